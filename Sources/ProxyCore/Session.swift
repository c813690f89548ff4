internal import Authorization
internal import HTTPCodec
public import Interception
public import TLSEngine

/// One client connection as a machine. Bytes, ends, outcomes and time come in; bytes and orders go out by the outbox. No
/// socket, no clock: every call says what time it is, in milliseconds of one monotonic clock.
public struct Session: ~Copyable {
    enum Phase: UInt8 {
        /// A balancer's connection: the header of the PROXY protocol comes first.
        case preface
        /// The listener speaks TLS, and the client has said nothing yet.
        case greeting
        /// The client's handshake is under way.
        case securing
        /// Between requests, or in the middle of a head.
        case awaitingRequest
        /// The request is here, and the password that came with it is being checked.
        case authenticating
        /// The body is kept before the request goes out: something needs to see it, or it may have to be sent again.
        case collectingBody
        /// The request, or a call to AM, is on its way through the origin leg.
        case exchanging
        /// A step-up waits for time to pass.
        case waiting
        /// CONNECT: the origin's connection is being made; then the first bytes decide what is inside.
        case connecting, peeking, tunnel
        /// The last answer has gone; what the client still sends is thrown away.
        case lingering
        case closed
    }

    /// What is left of the request's body.
    enum BodyState: Equatable {
        case complete
        case length(UInt64)
        case chunked
    }

    // the connection
    var engine: Engine
    /// Takes the place of `engine` when the exchange is over.
    var nextEngine: Engine?
    let flows: (any FlowMemory)?
    let refusals: (any RefusalMemory)?
    let logins: (any LoginMemory)?
    private let flowBase: UInt64
    private var exchanges: UInt64 = 0
    var now = 0
    var phase = Phase.awaitingRequest
    /// When `woke` is due; `Int.max` for never.
    public internal(set) var deadline = Int.max

    // the client's side
    var source: ClientSource
    /// What this connection counts for; nil where nobody counts.
    let seat: ClientSeat?
    /// Whose password was right: for this request, or for the tunnel around it.
    var user: String?
    var clientPending: [UInt8] = []
    var clientPaused = false
    /// When the client closed its side, or something last moved since then.
    var clientEndedAt: Int?
    var clientEnded: Bool { clientEndedAt != nil }
    var headBegan = false
    /// There are bytes behind those that are being looked at.
    var hasMore = false
    /// `proceed` was ordered and has not come yet.
    var isProceeding = false
    var parser = HeadParser()
    /// The request as the client sent it.
    var request = RequestHead()
    var requestDecoder = ChunkedDecoder()
    var bodyState = BodyState.complete
    /// The body, as far as it is kept.
    var body: [UInt8] = []
    /// The whole body is in `body`.
    var bodyKept = false
    var keepLimit = 0
    var bodyBytes: UInt64 = 0
    /// Where the client's CONNECT leads, until it is clear what is in the tunnel.
    var connectTarget: Origin?
    /// Set inside a CONNECT tunnel that carries HTTP, plain or in the TLS that was opened.
    var tunnelTarget: Origin?

    // the origin's side
    var origin = OriginLeg()
    /// The request as it goes out, where interceptors or the step-up changed it.
    var outgoing: RequestHead?
    var outgoingBody: [UInt8]?
    var binding = ConnectionBinding()

    // the exchange
    var classifierStep = Classifier.Step.none
    var classification: Classification?
    var began = 0
    var responseStarted = false
    /// The client asked for another protocol, and the origin was told.
    var offersUpgrade = false
    var closesAfter = false
    var stepUp: StepUpState?
    /// Filled where the response is held back.
    var held: HeldResponse?
    /// Set-Cookie lines of an upgraded session, for the client.
    var cookieLines: [String] = []
    public internal(set) var record = ExchangeRecord()

    /// - Parameters:
    ///   - number: unique among the connections of this process; becomes part of every flow id.
    ///   - client: the client's address, for the record.
    ///   - source: the same as a value, and how far it is to be believed.
    ///   - seat: what the connection holds of its client's share.
    public init(
        engine: Engine, flows: (any FlowMemory)?, refusals: (any RefusalMemory)? = nil,
        logins: (any LoginMemory)? = nil, number: UInt64, client: String,
        source: ClientSource = ClientSource(address: nil), seat: ClientSeat? = nil, now: Int
    ) {
        self.engine = engine
        self.flows = flows
        self.refusals = refusals
        self.logins = logins
        // sixteen million exchanges before an id could be that of another connection
        flowBase = number << 24
        record.client = client
        self.now = now
        self.source = source
        self.seat = seat
        deadline = now + engine.settings.timeouts.idle
        if source.policy != nil {
            phase = .preface
            deadline = now + engine.settings.timeouts.header
        } else if source.isSecure {
            phase = .greeting
        }
    }

    public var isClosed: Bool { phase == .closed }

    /// Between two requests: may be closed without loss.
    public var isIdle: Bool { (phase == .awaitingRequest || phase == .greeting) && clientPending.isEmpty }

    /// The next request has not begun, or not come whole.
    public var awaitsRequest: Bool { phase == .awaitingRequest }

    // MARK: events

    public mutating func received(_ bytes: Span<UInt8>, on leg: Leg, now: Int, _ out: inout Outbox) {
        self.now = now
        switch leg {
        case .client: clientBytes(bytes, &out)
        case .origin: originBytes(bytes, &out)
        }
    }

    /// The driver relays, or a slow reader took something; this keeps the session from looking idle. It lends no time
    /// to what waits for something else: a head, a connection, AM. What the client takes, interim answers above all, is
    /// no sign of the origin that an answer is to come.
    /// - Parameter leg: who took something.
    public mutating func touched(_ leg: Leg, now: Int) {
        self.now = now
        if clientEnded { clientEndedAt = now }
        let timeouts = engine.settings.timeouts
        switch phase {
        case .tunnel: deadline = now + timeouts.tunnelIdle
        case .lingering, .closed: deadline = now + timeouts.idle
        case .awaitingRequest: if !headBegan { deadline = now + timeouts.idle }
        case .exchanging:
            switch origin.state {
            case .body: deadline = bounded(now + timeouts.idle)
            case .awaitingHead:
                guard leg == .origin else { break }
                deadline = bounded(now + (origin.requestSent ? timeouts.response : timeouts.idle))
            case .idle, .leasing: break
            }
        case .preface, .greeting, .securing, .authenticating, .collectingBody, .waiting, .connecting, .peeking: break
        }
    }

    /// The leg will send no more. `relayed` bytes of an order to relay had gone before.
    /// - Parameters:
    ///   - cleanly: false where the connection broke, which is never the end of an answer.
    ///   - fault: why TLS broke, where that is what broke.
    public mutating func ended(
        _ leg: Leg, relayed: UInt64, cleanly: Bool = true, fault: TLSFault? = nil, now: Int, _ out: inout Outbox
    ) {
        self.now = now
        switch leg {
        case .client: clientGone(&out)
        case .origin: originEnded(relayed: relayed, cleanly: cleanly, fault: fault, &out)
        }
    }

    /// An order to relay is done.
    public mutating func relayed(from leg: Leg, count: UInt64, now: Int, _ out: inout Outbox) {
        self.now = now
        switch leg {
        case .client:
            record.requestBytes += count
            bodyState = .complete
            requestBodySent()
        case .origin:
            record.responseBytes += count
            origin.isRelaying = false
            responseComplete(&out)
        }
    }

    /// Bytes of the next request were here already.
    public mutating func proceed(now: Int, _ out: inout Outbox) {
        self.now = now
        isProceeding = false
        drainClientPending(&out)
    }

    /// Everything written to the client has gone out: from here on it has little time to close its side.
    public mutating func clientDrained(now: Int) {
        self.now = now
        if phase == .lingering { deadline = now + Self.lingering }
    }

    private static let lingering = 2_000

    /// Writing to the client failed: nobody is there any more.
    public mutating func clientLost(now: Int, _ out: inout Outbox) {
        self.now = now
        if phase != .closed { abandon(reset: true, &out) }
    }

    /// Time has passed.
    public mutating func woke(now: Int, _ out: inout Outbox) {
        self.now = now
        if now >= deadline { timedOut(&out) } else { giveUpForGoodbye(&out) }
    }

    // MARK: shared pieces

    mutating func startRecord() {
        exchanges &+= 1
        record.reset(flow: flowBase &+ exchanges)
        if tunnelTarget != nil { record.user = user }
        began = now
    }

    mutating func note(_ kind: ExchangeRecord.Event.Kind, _ text: String) {
        record.events.append(.init(kind, engine.redaction.text(text), at: now - began))
    }

    /// Ends the exchange: writes the record and makes ready for the next one, or closes.
    mutating func finishExchange(_ out: inout Outbox) {
        record.milliseconds = now - began
        out.orders.append(.record)
        outgoing = nil
        outgoingBody = nil
        stepUp = nil
        held = nil
        if !cookieLines.isEmpty { cookieLines = [] }
        classification = nil
        classifierStep = .none
        seat?.letGo()
        if body.capacity > 64 << 10 { body = [] } else { body.removeAll(keepingCapacity: true) }
        if closesAfter || isLastOfClient || bodyState != .complete {
            clientPending = []
            phase = .lingering
            deadline = now + engine.settings.timeouts.idle
            out.orders.append(clientEnded ? .closeClient(reset: false) : .finishClient)
            if clientEnded { phase = .closed }
            resumeClient(&out)
            return
        }
        responseStarted = false
        if let next = nextEngine { putInForce(next) }
        phase = .awaitingRequest
        headBegan = false
        deadline = now + engine.settings.timeouts.idle
        if !clientPending.isEmpty { orderProceed(&out) } else { resumeClient(&out) }
    }

    mutating func orderProceed(_ out: inout Outbox) {
        isProceeding = true
        out.orders.append(.proceed)
    }

    /// The client has closed its side and nothing of it waits.
    var isLastOfClient: Bool { clientEnded && clientPending.isEmpty && !hasMore }

    /// Closes at once. With a reset when the client must not take what it has for complete.
    mutating func abandon(reset: Bool, _ out: inout Outbox) {
        if origin.state != .idle { releaseOrigin(reusable: false, &out) }
        stepUp = nil
        if phase != .greeting, phase != .awaitingRequest, phase != .lingering, phase != .closed {
            record.milliseconds = now - began
            out.orders.append(.record)
        }
        seat?.letGo()
        phase = .closed
        deadline = now + engine.settings.timeouts.idle
        out.orders.append(.closeClient(reset: reset))
    }

    mutating func releaseOrigin(reusable: Bool, _ out: inout Outbox) {
        origin.state = .idle
        out.orders.append(.release(reusable: reusable))
    }

    mutating func pauseClient(_ out: inout Outbox) {
        guard !clientPaused else { return }
        clientPaused = true
        out.orders.append(.pause(.client))
    }

    mutating func resumeClient(_ out: inout Outbox) {
        guard clientPaused, !clientEnded else { return }
        clientPaused = false
        out.orders.append(.resume(.client))
    }

    private mutating func timedOut(_ out: inout Outbox) {
        switch phase {
        case .preface: prefaceTimedOut(&out)
        case .authenticating: authenticationTimedOut(&out)
        case .awaitingRequest:
            if headBegan {
                forgetHead()
                startRecord()
                closesAfter = true
                answer(.requestTimeout, &out)
            } else {
                abandon(reset: false, &out)
            }
        case .collectingBody:
            closesAfter = true
            answer(.bodyTimeout, &out)
        case .exchanging, .waiting: exchangeTimedOut(&out)
        case .securing: clientHandshakeTimedOut(&out)
        case .connecting: leaseFailed(.timedOut, now: now, &out)
        case .peeking: peekTimedOut(&out)
        case .greeting where headBegan: clientHandshakeTimedOut(&out)
        case .greeting, .tunnel, .lingering: abandon(reset: false, &out)
        case .closed:
            // what is queued for the client is not being read
            deadline = .max
            out.orders.append(.closeClient(reset: true))
        }
    }

    private mutating func exchangeTimedOut(_ out: inout Outbox) {
        if stepUpWoke(&out) { return }
        switch origin.state {
        case .leasing: leaseFailed(.timedOut, now: now, &out)
        case .awaitingHead:
            originFailed(origin.requestSent ? .responseTimeout : .bodyTimeout, &out)
        case .body:
            originFailed(
                ProxyError("http_response_timeout", status: 504, "the origin stopped in the middle of its answer"), &out
            )
        case .idle: abandon(reset: false, &out)
        }
    }
}
