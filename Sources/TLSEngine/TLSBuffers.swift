internal import COpenSSL

/// Where the streams of one loop put what they made: records for the peer, and what was in the peer's records. Shared by
/// all streams of one depth, for each is emptied before the next stream is asked. Connections at rest own no buffer.
public final class TLSBuffers {
    /// What a stream may be given at once. A stream inside another one is given what that one made of so much.
    public static let maxInput = 96 << 10
    /// A record is at most this long in the clear (RFC 8446 §5.1).
    private static let recordSize = 16 << 10

    /// Room for all that so much input, behind a record begun before, can hold.
    let plain: UnsafeMutableRawBufferPointer
    var plainCount = 0

    private var cipher: UnsafeMutableRawBufferPointer
    private var cipherCount = 0
    /// What a large answer needed is given back.
    private static let keptCapacity = 256 << 10

    /// What OpenSSL has not read yet of the input of the call under way.
    var input = UnsafeRawBufferPointer(start: nil, count: 0)

    public init() {
        plain = .allocate(byteCount: Self.maxInput + 2 * Self.recordSize, alignment: 64)
        cipher = .allocate(byteCount: 2 * Self.recordSize, alignment: 64)
    }

    deinit {
        // it held what was encrypted
        OPENSSL_cleanse(plain.baseAddress, plain.count)
        plain.deallocate()
        cipher.deallocate()
    }

    /// What the last call decrypted. Valid until the next call that receives with these buffers.
    public var decrypted: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: plain[..<plainCount]) }

    /// Records for the peer. Valid until the next call with these buffers.
    public var records: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: cipher[..<cipherCount]) }

    /// The records have been sent.
    public func clearRecords() {
        cipherCount = 0
        if cipher.count > Self.keptCapacity {
            cipher.deallocate()
            cipher = .allocate(byteCount: 2 * Self.recordSize, alignment: 64)
        }
    }

    // MARK: OpenSSL's side

    func append(_ bytes: UnsafeRawBufferPointer) {
        if cipher.count - cipherCount < bytes.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(cipher.count * 2, cipherCount + bytes.count), alignment: 64)
            larger.copyMemory(from: records)
            cipher.deallocate()
            cipher = larger
        }
        UnsafeMutableRawBufferPointer(rebasing: cipher[cipherCount...]).copyMemory(from: bytes)
        cipherCount += bytes.count
    }

    /// Takes from the input what there is room for.
    func read(into target: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(target.count, input.count)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        return count
    }
}
