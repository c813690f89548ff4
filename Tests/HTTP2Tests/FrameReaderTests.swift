import HTTPCodec
import Testing

@testable import HTTP2

@Suite("Frames before nghttp2 sees them")
struct FrameReaderTests {
    private static let settings = Frame.settings()

    /// Judges frames one after the other, on a connection where stream 1 is open and stream 3 has ended.
    private static func judge(
        _ frames: [[UInt8]], missing: UInt64? = nil, peer: StreamState.Peer = .body, hasHead: Bool = false,
        _ side: ConnectionSide = .server
    ) -> (verdict: FrameReader.Verdict, isSkipping: Bool) {
        var streams = OpenStreams()
        var open = StreamState(id: 1, place: StreamID(1))
        open.peer = peer
        open.missing = missing
        open.outgoing.hasHead = hasHead
        streams.add(open)
        var ended = StreamState(id: 3, place: StreamID(3))
        ended.peerHasEnded = true
        streams.add(ended)
        var reader = FrameReader(preface: 0)
        var verdict = FrameReader.Verdict()
        for frame in [settings] + frames {
            let padded = frame + [UInt8](repeating: 0, count: 16)
            verdict = reader.judge(FrameHeader(padded.span, at: 0), streams, side)
        }
        return (verdict, reader.isSkipping)
    }

    private static func violation(_ code: HTTPFault.Code, _ number: UInt32, _ stream: Int? = 0) -> FrameReader.Breach {
        FrameReader.Breach(code, number, stream)
    }

    @Test("What costs its sender little is counted")
    func floods() {
        let unknown = Frame(kind: 0x20, stream: 1, payload: [1]).bytes
        let priority = Frame(kind: 2, stream: 1, payload: [0, 0, 0, 3, 1]).bytes
        let floods: [([UInt8], Flood?)] = [
            (Self.settings, .settings), (Frame.settingsAnswer, nil), (Frame.ping(), .ping),
            (Frame.ping(answers: true), nil), (Frame.goAway(last: 0), .settings), (Frame.grant(0, 1), .windowUpdate),
            (Frame.reset(1, 8), .reset), (Frame.data(1, []), .emptyData), (Frame.data(1, [1]), nil),
            (Frame.data(1, [], end: true), nil), (priority, .priority), (unknown, .unknown),
        ]
        for (frame, flood) in floods {
            let verdict = Self.judge([frame]).verdict
            #expect(verdict.flood == flood && verdict.breach == nil, "\(frame)")
        }
        #expect(Self.judge([Frame.reset(1, 8)], hasHead: true).verdict == .init(), "it was answered")
        #expect(Self.judge([]).verdict == .init(), "the first one is nghttp2's to judge")
    }

    @Test("What one stream's peer does wrong ends that stream alone")
    func breaches() {
        let data = Frame.data(1, [1, 2, 3])
        #expect(Self.judge([Frame.data(3, [1])]).verdict.breach == Self.violation(.closedStream, 5, 1))
        #expect(Self.judge([Frame.headers(3, [], end: true)]).verdict.breach == Self.violation(.closedStream, 5, 1))
        #expect(Self.judge([data], missing: 2).verdict.breach == Self.violation(.lengthMismatch, 1))
        #expect(Self.judge([data], missing: 4).verdict == .init())
        #expect(Self.judge([data], missing: 3).verdict == .init())
        let end = Frame.data(1, [1, 2, 3], end: true)
        #expect(Self.judge([end], missing: 4).verdict.breach == Self.violation(.lengthMismatch, 1))
        #expect(Self.judge([data], missing: 2, peer: .ignored).verdict == .init())
        #expect(Self.judge([data], peer: .head).verdict == .init())
        #expect(Self.judge([data], peer: .head, .client).verdict.breach == Self.violation(.bodyWithoutHead, 1))
    }

    @Test("Frames that say nothing that is of use do not reach nghttp2")
    func skipping() {
        func priority(_ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
            Frame(kind: 2, stream: stream, payload: payload).bytes
        }
        let frames: [([UInt8], FrameReader.Breach?)] = [
            (priority(1, [0, 0, 0, 3, 1]), nil), (priority(5, [0]), nil),
            (priority(1, [0]), Self.violation(.badFrameSize, 6)),
            (priority(1, [0, 0, 0, 1, 1]), Self.violation(.badFrame, 1)),
            (priority(0, [0, 0, 0, 1, 1]), Self.violation(.badFrame, 1, nil)),
            (Frame.grant(1, 0), Self.violation(.badFrame, 1)),
        ]
        for (frame, breach) in frames {
            let (verdict, isSkipping) = Self.judge([frame])
            #expect(isSkipping && verdict.breach == breach, "\(frame)")
        }
        for frame in [Frame.grant(1, 1), Frame.grant(0, 0), Frame.grant(5, 0), Frame.data(3, [1])] {
            #expect(!Self.judge([frame]).isSkipping, "\(frame)")
        }
    }

    @Test("Fields may go on in eight frames, and nothing else is judged between them")
    func continuations() {
        let begin = Frame.headers(1, [], whole: false)
        let more = [[UInt8]](repeating: Frame.continuation(1, []), count: 8)
        #expect(Self.judge([begin] + more).verdict == .init())
        let calm = Self.violation(.tooManyContinuations, 11, nil)
        #expect(Self.judge([begin] + more + [Frame.continuation(1, [])]).verdict.breach == calm)
        #expect(Self.judge([begin, Frame.ping()]).verdict == .init())
        #expect(Self.judge([begin, Frame.continuation(1, [], whole: true), Frame.ping()]).verdict.flood == .ping)
    }
}
