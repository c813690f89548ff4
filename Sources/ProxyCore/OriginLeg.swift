import HTTPCodec

/// The side of a session that faces an origin: one request out, one response in, then the connection goes back. A
/// step-up uses the same leg for its calls to AM, one after another.
struct OriginLeg {
    enum State: UInt8 { case idle, leasing, awaitingHead, body }
    /// What the request on this leg is for.
    enum Purpose: UInt8 { case attempt, serverCall }
    /// Where the body goes. It is thrown away where an interceptor made an answer that has none: the client must not take
    /// it for the next response.
    enum Sink: UInt8 { case client, collect, discard }

    var state = State.idle
    var purpose = Purpose.attempt
    var origin: Origin?
    /// The connection had served another request before.
    var isReused = false
    /// Bytes of the response that could not be used yet.
    var pending: [UInt8] = []
    var parser = HeadParser()
    var response = ResponseHead()
    /// What the origin itself said about its connection, before interceptors changed the head.
    var keepsAlive = false
    var framing = BodyFraming.none
    var remaining: UInt64 = 0
    var decoder = ChunkedDecoder()
    var sink = Sink.client
    /// A byte of the response has come: the request may not be repeated on another connection.
    var hasAnswered = false
    /// The request has a body that its method gives no meaning (RFC 9110 §9.3): an origin that pays it no heed takes it
    /// for the next request, and the answer to that must reach nobody.
    var carriesOddBody = false
    /// The request has gone out whole.
    var requestSent = false
    /// The connection carries the identity of whoever the request is from, or will.
    var isBinding = false
    /// How far the driver is, while `leasing`.
    var step = LeaseStep.connecting
    /// Driver relays the body; the core waits for `relayed` or `ended`.
    var isRelaying = false

    mutating func begin(_ purpose: Purpose, _ origin: Origin) {
        state = .leasing
        self.purpose = purpose
        self.origin = origin
        isReused = false
        pending.removeAll(keepingCapacity: true)
        parser.reset()
        hasAnswered = false
        requestSent = false
        isBinding = false
        step = .connecting
        isRelaying = false
    }
}
