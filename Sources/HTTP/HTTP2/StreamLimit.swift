/// The limit of streams that the peer may open. It is announced to the peer but not to nghttp2, which would end the connection
/// for one too many. Only that stream has to be refused (RFC 9113 §5.1.2).
struct StreamLimit {
    /// Stands for the limit in the first SETTINGS.
    static let mark: UInt32 = 0x7FFF_FFFE

    let most: UInt32
    private var isTold = false

    init(_ most: UInt32) { self.most = most }

    /// Puts the true limit into the SETTINGS at this offset once they are written.
    mutating func tell(_ bytes: inout [UInt8], at start: Int) {
        guard !isTold, bytes.count >= start + 15 else { return }
        isTold = true
        let place = start + FrameHeader.size + 2
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: most >> UInt32(24 - 8 * index)) }
    }
}
