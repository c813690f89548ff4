internal import COpenSSL

/// The BIO through which OpenSSL uses the buffers of the current call (bio(7), BIO_meth_new(3)). It is in memory, so it never
/// blocks. It owns nothing.
enum MemoryBIO {
    // Made once and never changed; OpenSSL only reads it.
    private nonisolated(unsafe) static let method: OpaquePointer? = {
        let index = BIO_get_new_index()
        guard index != -1, let method = BIO_meth_new(index | BIO_TYPE_SOURCE_SINK, "usher") else { return nil }
        guard BIO_meth_set_write(method, portWrite) == 1, BIO_meth_set_read(method, portRead) == 1,
            BIO_meth_set_ctrl(method, portControl) == 1
        else {
            BIO_meth_free(method)
            return nil
        }
        return method
    }()

    static func make() -> OpaquePointer? {
        guard let method, let port = BIO_new(method) else { return nil }
        BIO_set_init(port, 1)
        return port
    }

    /// Connects the port to these buffers. They must outlive the next call of OpenSSL.
    static func attach(_ port: OpaquePointer, _ buffers: TLSBuffers) {
        BIO_set_data(port, Unmanaged.passUnretained(buffers).toOpaque())
    }

    static func detach(_ port: OpaquePointer) { BIO_set_data(port, nil) }
}

private func portWrite(_ port: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
    guard let data = BIO_get_data(port), let bytes, count > 0 else { return -1 }
    Unmanaged<TLSBuffers>.fromOpaque(data)._withUnsafeGuaranteedRef {
        $0.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }
    return count
}

private func portRead(_ port: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int32) -> Int32 {
    usher_BIO_clear_retry_flags(port)
    guard let data = BIO_get_data(port), let bytes, count > 0 else { return -1 }
    let taken = Unmanaged<TLSBuffers>.fromOpaque(data)._withUnsafeGuaranteedRef {
        $0.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
    }
    guard taken == 0 else { return Int32(taken) }
    usher_BIO_set_retry_read(port)
    return -1
}

private func portControl(_: OpaquePointer?, _ command: Int32, _: Int, _: UnsafeMutableRawPointer?) -> Int {
    command == BIO_CTRL_FLUSH ? 1 : 0
}
