/// Splits the input at frames, so that each is inspected before nghttp2 sees it and nghttp2 receives one frame at a time. The
/// effects of a frame are reported before the next one is read.
struct FrameWalk {
    enum Piece {
        case needsMore
        /// More bytes of the current frame.
        case rest(Range<Int>)
        /// The start of a frame and its available bytes.
        case begins(FrameHeader, Range<Int>)
        /// The start of a frame, whose bytes are in `kept`.
        case beginsKept(FrameHeader)
    }

    /// The start of a frame that arrived in pieces.
    private(set) var kept: [UInt8] = []
    /// The missing bytes of the current frame or the preface.
    private var left: Int

    /// - Parameter preface: the bytes before the first frame.
    init(preface: Int) { left = preface }

    /// True if no frame is incomplete.
    var isBetweenFrames: Bool { left == 0 && kept.isEmpty }

    /// The next piece of the input. Advances `position` past it.
    mutating func next(_ input: Span<UInt8>, _ position: inout Int) -> Piece {
        let start = position
        if left > 0 {
            guard start < input.count else { return .needsMore }
            position = min(input.count, start + left)
            left -= position - start
            return .rest(start..<position)
        }
        let here = input.count - start
        if kept.isEmpty, here >= FrameHeader.size, here >= FrameHeader.lookedAt(input, at: start),
            case let header = FrameHeader(input, at: start), !header.dependsOnItself
        {
            let end = start + FrameHeader.size + header.length
            position = min(input.count, end)
            left = end - position
            return .begins(header, start..<position)
        }
        while position < input.count {
            kept.append(input[position])
            position += 1
            guard kept.count >= FrameHeader.size, kept.count == FrameHeader.lookedAt(kept.span, at: 0) else { continue }
            let header = FrameHeader(kept.span, at: 0)
            left = FrameHeader.size + header.length - kept.count
            return .beginsKept(header)
        }
        return .needsMore
    }

    /// Clears the stream dependency of the kept frame.
    mutating func clearDependency() {
        guard let place = FrameHeader.dependency(kept.span, at: 0) else { return }
        for index in place..<place + 4 { kept[index] = 0 }
    }

    /// Discards the kept bytes after they were passed on.
    mutating func passedKept() { kept.removeAll(keepingCapacity: true) }
}
