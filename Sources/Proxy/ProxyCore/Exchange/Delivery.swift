import HTTPCodec
import Interception

/// What the client has received of its response: issues the commands that carry the response, each in its turn.
struct Delivery: ~Copyable {
    enum State: CaseIterable {
        /// The client has nothing of its response, except for interim ones.
        case none
        /// The client has the head, and the body follows.
        case begun
        /// The client has all that it gets.
        case ended

        /// The legal next states. Debug builds, including the tests, stop at any other.
        var next: Set<State> {
            switch self {
            case .none: [.none, .begun, .ended]
            // a response that is cut short has no end
            case .begun: [.none, .ended]
            case .ended: [.none]
            }
        }
    }

    private(set) var state = State.none

    /// Whether the client has received part of its response.
    var hasBegun: Bool { state == .begun }

    private mutating func enter(_ next: State) {
        assert(state.next.contains(next), "a delivery may not go from \(state) to \(next)")
        state = next
    }

    /// Prepares for the next response to the client.
    mutating func renew() { enter(.none) }

    // MARK: a response in parts

    func interim(_ head: ResponseHead, isOwn: Bool, _ out: inout CommandBuffer) {
        assert(state == .none, "an interim response may not follow the final one")
        out.clientCommands.append(.interim(head, isOwn: isOwn))
    }

    /// Sends the head of the origin's response.
    /// - Parameter isLast: the connection closes after the response.
    mutating func begin(
        _ head: inout ResponseHead, _ framing: BodyFraming, isLast: Bool = false, _ attempt: borrowing Attempt,
        _ filters: FilterChain?, _ log: inout ExchangeLog, _ out: inout CommandBuffer
    ) {
        if let filters {
            filters.end(.delivered(status: head.status))
            for line in filters.cookieLines { head.fields.add("Set-Cookie", line) }
        }
        begin(head, framing, attempt.manner(of: head, isLast: isLast), &log, &out)
    }

    /// Sends a head.
    mutating func begin(
        _ head: ResponseHead, _ framing: BodyFraming, _ manner: HeadManner, _ log: inout ExchangeLog,
        _ out: inout CommandBuffer
    ) {
        enter(.begun)
        log.capture.delivery = manner.isOwn ? .own(head) : .response
        log.tell(.delivered(status: head.status), out.now)
        out.clientCommands.append(.head(head, framing, manner))
    }

    /// - Parameter size: the size of the pieces; nil for one piece.
    func send(_ bytes: [UInt8], inPieces size: Int? = nil, _ out: inout CommandBuffer) {
        assert(state == .begun, "a body may not come before its head")
        guard let size else { return out.clientCommands.append(.data(bytes)) }
        for start in stride(from: 0, to: bytes.count, by: size) {
            out.clientCommands.append(.data(Array(bytes[start..<min(start + size, bytes.count)])))
        }
    }

    mutating func end(trailers: [UInt8], _ out: inout CommandBuffer) {
        enter(.ended)
        out.clientCommands.append(.end(trailers: trailers))
    }

    /// Sends the part of a paced response that is due.
    /// - Returns: what is to follow.
    mutating func send(
        dueOf paced: PacedResponse, _ head: inout ResponseHead, _ attempt: borrowing Attempt, _ filters: FilterChain?,
        _ log: inout ExchangeLog, _ out: inout CommandBuffer
    ) -> PacedResponse.Rest {
        if paced.begins(out.now) {
            if paced.isOwn {
                begin(head, paced.framing, HeadManner(isOwn: true, isLast: paced.isLast), &log, &out)
            } else {
                begin(&head, paced.framing, isLast: paced.isLast, attempt, filters, &log, &out)
            }
        }
        let bytes = paced.take(out.now)
        if !bytes.isEmpty { send(bytes, &out) }
        let rest = paced.rest(out.now)
        if case .ends(let trailers) = rest { end(trailers: trailers, &out) }
        return rest
    }

    // MARK: a response in one

    /// Sends a response that Usher made.
    /// - Parameter isLast: Usher reads nothing from the client after this.
    mutating func send(
        _ local: LocalResponse, to method: Method, isLast: Bool, _ log: inout ExchangeLog, _ out: inout CommandBuffer
    ) {
        enter(.ended)
        log.tell(.delivered(status: local.head.status), out.now)
        log.capture.delivery = .own(local.head)
        if method != .head {
            log.record.responseBytes += UInt64(local.body.count)
            log.capture.responseCame(local.body.span, total: &out.captured)
        }
        out.clientCommands.append(.own(local.head, local.body, isLast: isLast))
    }

    /// Changes the connection's protocol.
    mutating func switchProtocol(_ head: ResponseHead, _ log: inout ExchangeLog, _ out: inout CommandBuffer) {
        enter(.ended)
        log.capture.delivery = .response
        log.record.originVersion = head.version
        log.tell(.delivered(status: 101), out.now)
        out.clientCommands.append(.switching(head))
    }

    /// Sends bytes that are no valid response; none for silence.
    mutating func send(broken bytes: [UInt8], _ out: inout CommandBuffer) {
        enter(.ended)
        if !bytes.isEmpty { out.clientCommands.append(.raw(bytes)) }
    }
}
