/// How many streams the peer may have begun at a time. It is told so; nghttp2 is not, for it would end the connection for one too
/// many, where that stream alone is refused (RFC 9113 §5.1.2).
struct StreamLimit {
    /// Stands in the first SETTINGS for the number until they are written.
    static let mark: UInt32 = 0x7FFF_FFFE

    let most: UInt32
    private var isTold = false

    init(_ most: UInt32) { self.most = most }

    /// Puts the number into SETTINGS that begin there, where they are written by now.
    mutating func tell(_ bytes: inout [UInt8], at start: Int) {
        guard !isTold, bytes.count >= start + 15 else { return }
        isTold = true
        let place = start + FrameHeader.size + 2
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: most >> UInt32(24 - 8 * index)) }
    }
}
