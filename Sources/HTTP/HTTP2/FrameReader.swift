import HTTPCodec

/// Inspects each frame before nghttp2 sees it. It counts floods. If nghttp2 would end the connection for an error of one stream,
/// it ends that stream only.
struct FrameReader {
    struct Verdict: Equatable {
        /// The kind of flood that the frame counts as.
        var flood: Flood?
        var breach: Breach?
    }

    /// A violation by a frame.
    struct Breach: Equatable {
        let fault: HTTPFault
        /// The error code for the peer.
        let error: UInt32
        /// The index of the stream to end; nil to end the connection.
        let stream: Int?

        init(_ code: HTTPFault.Code, _ error: UInt32, _ stream: Int? = nil) {
            fault = HTTPFault(code, at: 0)
            self.error = error
            self.stream = stream
        }
    }

    var walk: FrameWalk
    /// The input of the current call.
    var input: UnsafePointer<UInt8>?
    /// True if the current frame is not passed to nghttp2.
    private(set) var isSkipping = false
    /// True if the current DATA frame has data.
    private(set) var hasData = false
    /// True once the peer's first frame has arrived.
    private var hasBegun = false
    /// The stream of the current fields if it depends on itself, else 0.
    private var selfDependent: Int32 = 0
    /// True while CONTINUATION frames are expected.
    private var isInFields = false
    private var continuations = 0

    /// - Parameter preface: the bytes before the first frame.
    init(preface: Int) { walk = FrameWalk(preface: preface) }

    /// True between frames and field blocks.
    var isIdle: Bool { !isInFields && walk.isBetweenFrames }

    /// True if the stream's fields made it depend on itself.
    func isSelfDependent(_ id: Int32) -> Bool { selfDependent == id }

    /// The range of the data in the input of the current call. nghttp2 passes pointers into its input.
    mutating func dataCame(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Range<Int>? {
        hasData = true
        return input.map { bytes - $0..<bytes - $0 + count }
    }

    // MARK: judging frames

    /// Judges the start of a frame.
    mutating func judge(_ header: FrameHeader, _ streams: borrowing OpenStreams, _ side: ConnectionSide) -> Verdict {
        isSkipping = false
        // nghttp2 checks that the first frame is SETTINGS
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
            // nghttp2 would end the connection, but only the stream has to end (RFC 7540 §5.3.1)
            if header.dependsOnItself { walk.clearDependency() }
            return Verdict(breach: Self.late(streams.index(id: header.stream), streams))
        case FrameKind.data:
            hasData = header.length == 0
            return Verdict(
                flood: header.length == 0 && !header.endsStream ? .emptyData : nil,
                breach: Self.body(header, streams.index(id: header.stream), streams, side))
        case FrameKind.priority:
            // priorities are deprecated (RFC 9113 §5.3.2)
            isSkipping = true
            return Verdict(flood: .priority, breach: Self.priority(header, streams.index(id: header.stream)))
        case FrameKind.windowUpdate:
            // a zero increment ends the stream and not the connection (RFC 9113 §6.9)
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

    /// A frame on a stream after END_STREAM. nghttp2 would end the connection, but only the stream has to end (RFC 9113 §5.1).
    /// Once it is reset, nghttp2 ignores the frame.
    private static func late(_ index: Int?, _ streams: borrowing OpenStreams) -> Breach? {
        guard let index, streams[index].peerHasEnded else { return nil }
        return Breach(.closedStream, ConnectionError.closed, index)
    }

    /// Body before the head of a response, or of another length than Content-Length. No part of such a frame is reported.
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

    /// A PRIORITY frame of a wrong length (RFC 9113 §6.3) or with a self-dependency ends its stream.
    private static func priority(_ header: FrameHeader, _ index: Int?) -> Breach? {
        guard header.stream != 0 else { return Breach(.badFrame, ConnectionError.violation) }
        guard let index else { return nil }
        if header.length != 5 { return Breach(.badFrameSize, ConnectionError.size, index) }
        return header.dependsOnItself ? Breach(.badFrame, ConnectionError.violation, index) : nil
    }
}
