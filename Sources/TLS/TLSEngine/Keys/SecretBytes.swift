internal import COpenSSL

/// Secret bytes, such as keys and their sources. They are overwritten with the last reference.
public final class SecretBytes: @unchecked Sendable {
    // Written only in `init`; read-only afterwards.
    private let bytes: UnsafeMutableRawBufferPointer

    public init(copying source: UnsafeRawBufferPointer) {
        bytes = .allocate(byteCount: source.count, alignment: 1)
        bytes.copyMemory(from: source)
    }

    /// - Parameter fill: must write all of the bytes.
    init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        bytes = .allocate(byteCount: count, alignment: 1)
        fill(bytes)
    }

    /// Random bytes.
    /// - Throws: `MaterialFault` if the system has none.
    public convenience init(random count: Int) throws(MaterialFault) {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        var isFilled = false
        self.init(count: count) { isFilled = RAND_priv_bytes($0.baseAddress, Int32($0.count)) == 1 }
        guard isFilled else { throw MaterialFault("could not be made: the system has no randomness to give") }
    }

    /// Takes the bytes and overwrites the source array.
    public convenience init(taking source: inout [UInt8]) {
        self.init(copying: source.span.bytes.withUnsafeBytes { $0 })
        source.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
        source = []
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    public var count: Int { bytes.count }

    public func withBytes<Result, Fault: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Fault) -> Result
    ) throws(Fault) -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }
}
