internal import Formats
internal import HTTP1
internal import HTTPCodec

/// The codec of one admin connection: it reads complete requests and writes responses. It checks access before anything is looked
/// up.
public struct ControlCodec {
    public enum Event: Sendable {
        case needsMore
        /// The client waits for 100 Continue before it sends the body (RFC 9110 §10.1.1).
        case expectsContinue
        case request(ControlRequest)
        case refused(ControlProblem)
    }

    private var server = MessageServer(limits: ControlLimits.head, maxBody: ControlLimits.body, scheme: .http)
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
    public var isInside: Bool { !server.codec.awaitsHead }

    /// The next event in `input`. Advances `position` past the bytes used. Each request has to be answered before the next is
    /// read.
    public mutating func next(_ input: [UInt8], _ position: inout Int, now: Int) -> Event {
        switch server.next(input, &position) {
        case .needsMore: return .needsMore
        case .head:
            let head = server.head
            let access: ControlGate.Access = isOpen(ControlRequest(head.methodText, head.path).path) ? .open : .closed
            if let problem = gate.problem(of: head, access) { return turnAway(problem) }
            isKnown = access == .closed
            return next(input, &position, now: now)
        case .expectsContinue: return .expectsContinue
        case .request(let body):
            let head = server.head
            var request = ControlRequest(head.methodText, head.path, fields: head.fields, body: body, now: now)
            request.query = head.query
            request.isOwner = gate.showsOwner(head)
            request.entrance = gate.door.entrance
            return .request(request)
        case .malformed(let fault): return .refused(ControlProblem(fault.status, Self.words(fault)))
        case .unknownExpectation: return turnAway(ControlProblem(417, "an unknown expectation"))
        case .tooLarge:
            return turnAway(ControlProblem(413, "the body is longer than \(ControlLimits.body >> 10) KiB"))
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

    /// Ends a request that did not arrive in time.
    public mutating func timedOut() -> ControlProblem {
        server.codec.giveUpHead()
        return ControlProblem(408, "the request was not complete within \(ControlLimits.time / 1000) s")
    }

    /// Refuses a request whose head was read, so that a HEAD gets no body.
    private mutating func turnAway(_ problem: ControlProblem) -> Event {
        server.codec.endAfterThis()
        return .refused(problem)
    }

    // MARK: answers

    /// Ends the connection after the response to this request.
    public mutating func endsWithThis() { server.codec.endAfterThis() }

    /// The 100 Continue response.
    public func goOn() -> [UInt8] { server.goOn() }

    /// - Parameter time: in seconds since 1970.
    /// - Returns: the bytes, and whether the connection ends after them.
    public mutating func answer(_ answer: ControlAnswer, time: Int) -> (message: [UInt8], ends: Bool) {
        var head = Self.head(answer.status, answer.message?.type, time, answer.fields)
        guard let bytes = answer.message?.bytes else { return server.finish(server.begin(head, .none)) }
        head.fields.add("Content-Length", "\(bytes.count)")
        return server.finish(server.begin(head, .length(UInt64(bytes.count)), bytes))
    }

    /// Begins a response that carries events until either side ends it.
    /// - Returns: the bytes, and whether events may follow; they do not after a HEAD.
    public mutating func follow(time: Int) -> (message: [UInt8], takesEvents: Bool) {
        server.codec.endAfterThis()
        let message = server.begin(Self.head(200, "text/event-stream", time, []), .chunked)
        return (message, !server.codec.writesNothing)
    }

    public func piece(_ events: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        server.codec.write(events.span, to: &out)
        return out
    }

    /// Ends a response that `follow` began, and the connection with it.
    public mutating func endFollowing() -> [UInt8] { server.finish().message }

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
