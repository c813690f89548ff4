internal import COpenSSL

/// Output buffers for the TLS streams of one loop: records for the peer, and decrypted data. All streams of one depth share
/// them, and each call empties them first. Idle connections own no buffer.
public final class TLSBuffers {
    /// The limit of one call's input in bytes. An inner stream receives this much output of the outer one.
    public static let maxInput = 96 << 10
    /// The limit of a record's content (RFC 8446 §5.1).
    private static let recordSize = 16 << 10

    /// Room for the content of the largest input after a record that began earlier.
    let plain: UnsafeMutableRawBufferPointer
    var plainCount = 0

    private var cipher: UnsafeMutableRawBufferPointer
    private var cipherCount = 0
    /// The capacity in bytes that stays after a large output.
    private static let keptCapacity = 256 << 10

    /// The part of the current input that OpenSSL has not read.
    var input = UnsafeRawBufferPointer(start: nil, count: 0)

    public init() {
        plain = .allocate(byteCount: Self.maxInput + 2 * Self.recordSize, alignment: 64)
        cipher = .allocate(byteCount: 2 * Self.recordSize, alignment: 64)
    }

    deinit {
        // the buffer held decrypted data
        OPENSSL_cleanse(plain.baseAddress, plain.count)
        plain.deallocate()
        cipher.deallocate()
    }

    /// The output of the last call in plain text. Valid until the next call that receives with these buffers.
    public var decrypted: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: plain[..<plainCount]) }

    /// Records for the peer. Valid until the next call with these buffers.
    public var records: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: cipher[..<cipherCount]) }

    /// Removes the records after they were sent.
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

    /// Copies as much of the input as fits.
    func read(into target: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(target.count, input.count)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        return count
    }
}
