import HTTPCodec

/// Reads where frames begin, and judges each before nghttp2 sees it: floods are counted, and where nghttp2 would end the
/// connection for what one stream alone is to end for, that stream ends.
struct FrameReader {
    struct Verdict: Equatable {
        /// What it counts as.
        var flood: Flood?
        var breach: Breach?
    }

    /// A rule that a frame breaks.
    struct Breach: Equatable {
        let fault: HTTPFault
        /// What the peer is told.
        let error: UInt32
        /// The place of the stream that ends; nil where the connection does.
        let stream: Int?

        init(_ code: HTTPFault.Code, _ error: UInt32, _ stream: Int? = nil) {
            fault = HTTPFault(code, at: 0)
            self.error = error
            self.stream = stream
        }
    }

    var walk: FrameWalk
    /// Where the input of the call begins that is under way.
    var input: UnsafePointer<UInt8>?
    /// Nothing of the frame that has begun is for nghttp2.
    private(set) var isSkipping = false
    /// The DATA frame that is being read had data.
    private(set) var hasData = false
    /// The peer's first frame has come.
    private var hasBegun = false
    /// Whose fields those are that are being read, where it is to wait for itself; else 0.
    private var selfDependent: Int32 = 0
    /// Fields have begun that go on in CONTINUATION frames.
    private var isInFields = false
    private var continuations = 0

    /// - Parameter preface: how many bytes come before the first frame.
    init(preface: Int) { walk = FrameWalk(preface: preface) }

    /// Nothing has begun whose rest is still to come.
    var isIdle: Bool { !isInFields && walk.isBetweenFrames }

    /// The fields of that stream have come in a frame by which it is to wait for itself.
    func isSelfDependent(_ id: Int32) -> Bool { selfDependent == id }

    /// Where those bytes stand in the input of the call under way: nghttp2 hands over the very bytes that it got.
    mutating func dataCame(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Range<Int>? {
        hasData = true
        return input.map { bytes - $0..<bytes - $0 + count }
    }

    // MARK: frames before nghttp2 sees them

    /// Judges a frame that begins.
    mutating func judge(_ header: FrameHeader, _ streams: borrowing OpenStreams, _ side: ConnectionSide) -> Verdict {
        isSkipping = false
        // what is not SETTINGS is judged by nghttp2 there
        guard hasBegun else {
            hasBegun = true
            return Verdict()
        }
        if isInFields { return header.kind == FrameKind.continuation ? continuation(header) : Verdict() }
        switch header.kind {
        case FrameKind.headers, FrameKind.pushPromise:
            isInFields = !header.endsFields
            continuations = 0
            selfDependent = header.dependsOnItself ? header.stream : 0
            // nghttp2 would end the connection, where the stream alone is to end (RFC 7540 §5.3.1)
            if header.dependsOnItself { walk.clearDependency() }
            return Verdict(breach: Self.late(streams.index(id: header.stream), streams))
        case FrameKind.data:
            hasData = header.length == 0
            return Verdict(
                flood: header.length == 0 && !header.endsStream ? .emptyData : nil,
                breach: Self.body(header, streams.index(id: header.stream), streams, side))
        case FrameKind.priority:
            // nobody goes by them any more (RFC 9113 §5.3.2)
            isSkipping = true
            return Verdict(flood: .priority, breach: Self.priority(header, streams.index(id: header.stream)))
        case FrameKind.windowUpdate:
            // to grant nothing to a stream ends that stream (RFC 9113 §6.9), and not the connection
            guard header.grant == 0, header.stream != 0, let index = streams.index(id: header.stream) else {
                return Verdict(flood: .windowUpdate)
            }
            isSkipping = true
            return Verdict(flood: .windowUpdate, breach: Breach(.badFrame, ConnectionError.violation, index))
        case FrameKind.reset:
            if let index = streams.index(id: header.stream), streams[index].outgoing.hasHead { return Verdict() }
            return Verdict(flood: .reset)
        case FrameKind.settings: return Verdict(flood: header.isAnswer ? nil : .settings)
        case FrameKind.goAway: return Verdict(flood: .settings)
        case FrameKind.ping: return Verdict(flood: header.isAnswer ? nil : .ping)
        default: return Verdict(flood: header.kind > FrameKind.continuation ? .unknown : nil)
        }
    }

    private mutating func continuation(_ header: FrameHeader) -> Verdict {
        continuations += 1
        isInFields = !header.endsFields
        let isTooMany = continuations > FloodGuard.maxContinuations
        return Verdict(breach: isTooMany ? Breach(.tooManyContinuations, ConnectionError.calm) : nil)
    }

    /// A stream whose message has ended gets no more: nghttp2 would end the connection for it, where the stream alone is to
    /// end (RFC 9113 §5.1). Once that is so, it lets the frame go, and reads what it has to of it.
    private static func late(_ index: Int?, _ streams: borrowing OpenStreams) -> Breach? {
        guard let index, streams[index].peerHasEnded else { return nil }
        return Breach(.closedStream, ConnectionError.closed, index)
    }

    /// A response's body before its head, likewise, and more body than the head says, or less: nothing of such a frame is told of.
    private static func body(
        _ header: FrameHeader, _ index: Int?, _ streams: borrowing OpenStreams, _ side: ConnectionSide
    ) -> Breach? {
        if let late = late(index, streams) { return late }
        guard let index else { return nil }
        switch (streams[index].peer, streams[index].missing) {
        case (.head, _): return side == .client ? Breach(.bodyWithoutHead, ConnectionError.violation, index) : nil
        case (.body, let missing?):
            let body = UInt64(header.body)
            guard body > missing || header.endsStream && body < missing else { return nil }
            return Breach(.lengthMismatch, ConnectionError.violation, index)
        default: return nil
        }
    }

    /// Of a wrong length, it ends its stream (RFC 9113 §6.3), and where that is to wait for itself.
    private static func priority(_ header: FrameHeader, _ index: Int?) -> Breach? {
        guard header.stream != 0 else { return Breach(.badFrame, ConnectionError.violation) }
        guard let index else { return nil }
        if header.length != 5 { return Breach(.badFrameSize, ConnectionError.size, index) }
        return header.dependsOnItself ? Breach(.badFrame, ConnectionError.violation, index) : nil
    }
}
