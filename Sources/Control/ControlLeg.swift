internal import Formats
internal import HTTP1
internal import HTTPCodec

/// The codec of one admin connection: it reads complete requests and writes responses. It checks access before anything is looked
/// up.
public struct ControlLeg {
    public enum Event: Sendable {
        case needsMore
        /// The client waits for 100 Continue before it sends the body (RFC 9110 §10.1.1).
        case expectsContinue
        case request(ControlRequest)
        case refused(ControlProblem)
    }

    private var leg = HTTP1Server()
    private var head = RequestHead()
    private var body: [UInt8] = []
    private let gate: ControlGate
    private let isOpen: ([String]) -> Bool
    /// True if the last request passed the check of a route that requires the token.
    public private(set) var isKnown = false

    /// - Parameter isOpen: whether a path is answered without a token.
    public init(_ door: ControlDoor = .local, isOpen: @escaping ([String]) -> Bool = { _ in false }) {
        gate = ControlGate(door: door)
        self.isOpen = isOpen
    }

    /// True while a request is incomplete.
    public var isInside: Bool { !leg.awaitsHead }

    /// The next event in `input`. Advances `position` past the bytes used. Each request has to be answered before the next is
    /// read.
    public mutating func next(_ input: [UInt8], _ position: inout Int, now: Int) -> Event {
        do throws(HTTPFault) {
            return leg.awaitsHead ? try readHead(input, &position, now) : try readBody(input, &position, now)
        } catch {
            return refuse(ControlProblem(error.status, Self.words(error)))
        }
    }

    /// The message of a fault. The limits are fixed, so it names no configuration keys.
    private static func words(_ fault: HTTPFault) -> String {
        switch fault.code {
        case .targetTooLong: "the request target is longer than \(ControlLimits.head.target >> 10) KiB"
        case .headTooLarge: "the head is larger than \(ControlLimits.head.bytes >> 10) KiB"
        case .tooManyFields: "there are more than \(ControlLimits.head.fields) fields"
        case .trailersTooLarge: "the trailers are larger than \(ControlLimits.head.bytes >> 10) KiB"
        default: fault.explanation
        }
    }

    private mutating func refuse(_ problem: ControlProblem) -> Event {
        leg.giveUpHead()
        return .refused(problem)
    }

    /// Ends a request that did not arrive in time.
    public mutating func timedOut() -> ControlProblem {
        leg.giveUpHead()
        return ControlProblem(408, "the request was not complete within \(ControlLimits.time / 1000) s")
    }

    /// Refuses a request whose head was read, so that a HEAD gets no body.
    private mutating func turnAway(_ problem: ControlProblem) -> Event {
        leg.endAfterThis()
        return .refused(problem)
    }

    private mutating func readHead(
        _ input: [UInt8], _ position: inout Int, _ now: Int
    ) throws(HTTPFault) -> Event {
        let rest = input.span.extracting(position...)
        guard let count = try leg.readHead(rest, into: &head, limits: ControlLimits.head) else { return .needsMore }
        position += count
        try head.settleHost(scheme: .http)
        let framing = try leg.begin(head, maxTrailerBytes: ControlLimits.head.bytes)
        let access: ControlGate.Access = isOpen(ControlRequest(head.methodText, head.path).path) ? .open : .closed
        if let problem = gate.problem(of: head, access) { return turnAway(problem) }
        isKnown = access == .closed
        if case .length(let length) = framing, length > UInt64(ControlLimits.body) { return tooLarge() }
        if framing != .none, let expectation = head.fields["Expect"] {
            guard ASCII.equal(expectation, "100-continue") else {
                return turnAway(ControlProblem(417, "an unknown expectation"))
            }
            if position == input.count { return .expectsContinue }
        }
        return try readBody(input, &position, now)
    }

    private mutating func tooLarge() -> Event {
        turnAway(ControlProblem(413, "the body is longer than \(ControlLimits.body >> 10) KiB"))
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
                var request = ControlRequest(head.methodText, head.path, fields: head.fields, body: body, now: now)
                request.query = head.query
                if case .owner = gate.door { request.isOwner = true }
                head = RequestHead()
                body = []
                return .request(request)
            }
        }
    }

    // MARK: answers

    /// Ends the connection after the response to this request.
    public mutating func endsWithThis() { leg.endAfterThis() }

    /// The 100 Continue response.
    public func goOn() -> [UInt8] {
        var out: [UInt8] = []
        leg.interim(ResponseHead(status: 100, reason: ReasonPhrase.of(100)), via: [], to: &out)
        return out
    }

    /// - Parameter time: in seconds since 1970.
    /// - Returns: the bytes, and whether the connection ends after them.
    public mutating func answer(_ answer: ControlAnswer, time: Int) -> (message: [UInt8], ends: Bool) {
        let content = answer.message
        var message: [UInt8] = []
        var head = Self.head(answer.status, content?.type, time, answer.fields)
        if let content { head.fields.add("Content-Length", "\(content.bytes.count)") }
        let framing: BodyFraming = content.map { .length(UInt64($0.bytes.count)) } ?? .none
        leg.respond(head, framing, Self.manner, to: &message)
        if let content { leg.write(content.bytes.span, to: &message) }
        return finish(&message)
    }

    /// Begins a response that carries events until either side ends it.
    /// - Returns: the bytes, and whether events may follow; they do not after a HEAD.
    public mutating func follow(time: Int) -> (message: [UInt8], takesEvents: Bool) {
        var message: [UInt8] = []
        let head = Self.head(200, "text/event-stream", time, [])
        leg.endAfterThis()
        leg.respond(head, .chunked, Self.manner, to: &message)
        return (message, !leg.writesNothing)
    }

    public func piece(_ events: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        leg.write(events.span, to: &out)
        return out
    }

    /// Ends a response that `follow` began, and the connection with it.
    public mutating func endFollowing() -> [UInt8] {
        var message: [UInt8] = []
        return finish(&message).message
    }

    private mutating func finish(_ message: inout [UInt8]) -> (message: [UInt8], ends: Bool) {
        leg.end(trailers: [], to: &message)
        let ends = leg.isLast
        leg.next()
        return (message, ends)
    }

    private static var manner: ResponseManner {
        var manner = ResponseManner()
        manner.isOwn = true
        return manner
    }

    private static func head(
        _ status: Int, _ type: String?, _ time: Int, _ fields: [ControlAnswer.FieldLine]
    ) -> ResponseHead {
        var head = ResponseHead(status: status, reason: ReasonPhrase.of(status))
        head.fields.add("Date", CalendarTime(time).http)
        if let type { head.fields.add("Content-Type", type) }
        head.fields.add("Cache-Control", "no-store")
        // browsers must not guess another type
        head.fields.add("X-Content-Type-Options", "nosniff")
        for field in fields { head.fields.add(field.name, field.value) }
        return head
    }
}
