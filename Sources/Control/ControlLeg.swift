internal import Formats
internal import HTTP1
internal import HTTPCodec

/// What is said on one connection to the daemon: whole requests out of its bytes, and answers into bytes. Who may ask at all
/// is judged here, before anything is looked up.
public struct ControlLeg: Sendable {
    public enum Event: Sendable {
        case needsMore
        /// The client waits for word before it sends the body (RFC 9110 §10.1.1).
        case expectsContinue
        case request(ControlRequest)
        case refused(ControlProblem)
    }

    private var leg = HTTP1Server()
    private var head = RequestHead()
    private var body: [UInt8] = []

    public init() {}

    /// Something of a request is here, and not all of it.
    public var isInside: Bool { !leg.awaitsHead }

    /// The next event in `input` from `position` on, which goes past what was used. Each request is answered before the next is
    /// read.
    public mutating func next(_ input: [UInt8], _ position: inout Int, now: Int) -> Event {
        do throws(HTTPFault) {
            return leg.awaitsHead ? try readHead(input, &position, now) : try readBody(input, &position, now)
        } catch {
            return refuse(ControlProblem(error.status, error.explanation))
        }
    }

    private mutating func refuse(_ problem: ControlProblem) -> Event {
        leg.giveUpHead()
        return .refused(problem)
    }

    /// Too long was waited for the rest of a request.
    public mutating func timedOut() -> ControlProblem {
        leg.giveUpHead()
        return ControlProblem(408, "the request did not come whole in \(ControlLimits.time / 1000) s")
    }

    private mutating func readHead(
        _ input: [UInt8], _ position: inout Int, _ now: Int
    ) throws(HTTPFault) -> Event {
        let rest = input.span.extracting(position...)
        guard let count = try leg.readHead(rest, into: &head, limits: ControlLimits.head) else { return .needsMore }
        position += count
        try head.settleHost(scheme: .http)
        if let problem = ControlGate.problem(of: head) { return refuse(problem) }
        let framing = try leg.begin(head, maxTrailerBytes: ControlLimits.head.bytes)
        if case .length(let length) = framing, length > UInt64(ControlLimits.body) { return tooLarge() }
        if framing != .none, let expectation = head.fields["Expect"] {
            guard ASCII.equal(expectation, "100-continue") else {
                return refuse(ControlProblem(417, "an unknown expectation"))
            }
            if position == input.count { return .expectsContinue }
        }
        return try readBody(input, &position, now)
    }

    private mutating func tooLarge() -> Event {
        refuse(ControlProblem(413, "the body is longer than \(ControlLimits.body >> 10) KiB"))
    }

    private mutating func readBody(
        _ input: [UInt8], _ position: inout Int, _ now: Int
    ) throws(HTTPFault) -> Event {
        while true {
            switch try leg.readBody(input.span, &position) {
            case .data(let range):
                guard body.count + range.count <= ControlLimits.body else { return tooLarge() }
                body += input[range]
            case .needsMore:
                position = input.count
                return .needsMore
            case .end:
                let request = ControlRequest(head.methodText, head.path, fields: head.fields, body: body, now: now)
                head = RequestHead()
                body = []
                return .request(request)
            }
        }
    }

    // MARK: answers

    /// What a client hears that waits to send its body.
    public func goOn() -> [UInt8] {
        var out: [UInt8] = []
        leg.interim(ResponseHead(status: 100, reason: ReasonPhrase.of(100)), via: [], to: &out)
        return out
    }

    /// - Parameter time: in seconds since 1970.
    /// - Returns: the bytes, and whether the connection ends after them.
    public mutating func answer(_ answer: ControlAnswer, time: Int) -> (message: [UInt8], ends: Bool) {
        let content = Array((answer.body.serialized + "\n").utf8)
        var head = ResponseHead(status: answer.status, reason: ReasonPhrase.of(answer.status))
        head.fields.add("Date", CalendarTime(time).http)
        head.fields.add("Content-Type", answer.isProblem ? "application/problem+json" : "application/json")
        head.fields.add("Cache-Control", "no-store")
        for field in answer.fields { head.fields.add(field.name, field.value) }
        head.fields.add("Content-Length", "\(content.count)")
        var manner = ResponseManner()
        manner.isOwn = true
        var message: [UInt8] = []
        leg.respond(head, .length(UInt64(content.count)), manner, to: &message)
        leg.write(content.span, to: &message)
        leg.end(trailers: [], to: &message)
        let ends = leg.isLast
        leg.next()
        return (message, ends)
    }
}
