/// Finds where frames begin, so that each is looked at before nghttp2 sees it, and so that it sees one at a time: what a frame
/// comes to is told before the next one is read.
struct FrameWalk {
    enum Piece {
        case needsMore
        /// These bytes go on with what has begun.
        case rest(Range<Int>)
        /// A frame begins, and as much of it as is here stands there.
        case begins(FrameHeader, Range<Int>)
        /// A frame begins with the bytes that are kept.
        case beginsKept(FrameHeader)
    }

    /// The beginning of a frame that came in pieces.
    private(set) var kept: [UInt8] = []
    /// What is still to come of the frame that has begun, or of the preface.
    private var left: Int

    /// - Parameter preface: how many bytes come before the first frame.
    init(preface: Int) { left = preface }

    /// Nothing of a frame has come whose rest is still to come.
    var isBetweenFrames: Bool { left == 0 && kept.isEmpty }

    /// The next piece of the input from `position` on, which is moved past it.
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

    /// Has the frame whose beginning is kept wait for no stream.
    mutating func clearDependency() {
        guard let place = FrameHeader.dependency(kept.span, at: 0) else { return }
        for index in place..<place + 4 { kept[index] = 0 }
    }

    /// What was kept has been passed on.
    mutating func passedKept() { kept.removeAll(keepingCapacity: true) }
}
