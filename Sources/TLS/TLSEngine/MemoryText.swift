internal import COpenSSL

/// Texts written through OpenSSL's memory BIOs.
enum MemoryText {
    /// Returns the bytes that OpenSSL wrote; nil if `write` reports a failure.
    static func written(_ write: (OpaquePointer) -> Bool) -> [UInt8]? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let target = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(target) }
        guard write(target) else { return nil }
        return content(target) { Array($0) }
    }

    /// Returns secret bytes that OpenSSL wrote, and overwrites its buffer.
    static func writtenSecret(_ write: (OpaquePointer) -> Bool) -> SecretBytes? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let target = BIO_new(BIO_s_secmem()) else { return nil }
        defer {
            content(target) { OPENSSL_cleanse(UnsafeMutableRawPointer(mutating: $0.baseAddress), $0.count) }
            BIO_free(target)
        }
        guard write(target) else { return nil }
        return content(target) { SecretBytes(copying: $0) }
    }

    private static func content<Result>(_ source: OpaquePointer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var bytes: UnsafeMutablePointer<CChar>?
        let count = usher_BIO_get_mem_data(source, &bytes)
        return body(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : max(0, count)))
    }
}
