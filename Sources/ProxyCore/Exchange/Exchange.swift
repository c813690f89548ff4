import Authorization
import HTTPCodec
import Interception

/// One request and its response, as a state machine. It handles messages: it knows no wire format, no HTTP version and no
/// other exchange on its connections. Through the outbox it issues replies for the client's side and orders for the
/// origin's side.
struct Exchange: ~Copyable {
    private(set) var id: ExchangeID
    private(set) var engine: Engine
    /// The call, when this exchange is a filter's call.
    private var calling: CallUnderWay?
    private(set) var stage = Stage.reading
    var received = ReceivedRequest()
    var attempt = Attempt()
    var response = ResponseHead()
    var classification: Classification?
    var filters: FilterChain?
    var phases = InterceptorPhases()
    var retries = RetryLedger()
    var log: ExchangeLog
    /// When to call `woke`.
    private(set) var deadline = Int.max

    init(_ id: ExchangeID, _ engine: Engine) {
        self.id = id
        self.engine = engine
        log = ExchangeLog(engine.redaction)
    }

    /// Prepares a finished exchange for reuse. Buffers are kept.
    mutating func renew(_ id: ExchangeID, _ engine: Engine) {
        self.id = id
        adopt(engine)
        calling = nil
        retries = RetryLedger()
        enter(.reading, until: .max)
        attempt.origin = nil
        attempt.hasAnswered = false
        classification = nil
    }

    /// The head of the request as the client sent it.
    var request: RequestHead {
        _read { yield received.head }
        _modify { yield &received.head }
    }

    /// The body of the request.
    var body: RequestBody {
        _read { yield received.body }
        _modify { yield &received.body }
    }

    /// The largest head buffer to keep, in bytes.
    private static let keptCapacity = 16 << 10

    /// Adopts another generation of the configuration.
    mutating func adopt(_ engine: Engine) {
        self.engine = engine
        log.adopt(engine.redaction)
    }

    /// Releases shared objects, large buffers, and the secrets of a call: its session and passwords.
    mutating func rest() {
        body.reset(.none)
        let isSecret = calling != nil
        if isSecret { body.bytes = [] }
        if isSecret || request.fields.bytes.capacity > Self.keptCapacity { request = RequestHead() }
        if isSecret || response.fields.bytes.capacity > Self.keptCapacity { response = ResponseHead() }
        if log.record.url.capacity > Self.keptCapacity { log.record.url = [] }
        calling = nil
        filters = nil
        phases = InterceptorPhases()
        attempt.forget()
        enter(.over(.complete), until: .max)
    }

    // MARK: the stage

    mutating func enter(_ stage: Stage) {
        assert(self.stage.kind.mayBecome(stage.kind), "an exchange may not go from \(self.stage.kind) to \(stage.kind)")
        self.stage = stage
    }

    /// Enters a stage that must end by a time.
    mutating func enter(_ stage: Stage, until time: Int) {
        enter(stage)
        deadline = time
    }

    mutating func wait(until time: Int) { deadline = time }

    /// Limits a filter's wait to the total time for waits. Once the response goes to the client, no such
    /// limit applies.
    func bounded(_ time: Int) -> Int {
        if let limit = calling?.limit { return min(time, limit) }
        return min(time, filters?.limit ?? .max)
    }

    var isOver: Bool { if case .over = stage { true } else { false } }
    var isReading: Bool { if case .reading = stage { true } else { false } }
    var isTunnelling: Bool { if case .tunnelling = stage { true } else { false } }

    /// Whether the exchange holds an origin's connection or waits for one.
    var isLeased: Bool {
        switch stage {
        case .leasing, .awaiting, .delivering, .holding, .tunnelling: true
        case .pacing(let paced): !paced.isWhole
        case .reading, .authenticating, .collecting, .deciding, .calling, .waiting, .intercepting, .over: false
        }
    }

    /// Whether the request is out and its response is not complete.
    var awaitsResponse: Bool {
        switch stage {
        case .awaiting, .delivering, .holding: true
        case .pacing(let paced): !paced.isWhole
        case .reading, .authenticating, .collecting, .leasing, .deciding, .calling, .waiting, .intercepting,
            .tunnelling, .over:
            false
        }
    }

    /// Whether body bytes may go to the origin unread.
    var streamsRaw: Bool { wantsBody && awaitsResponse && attempt.lease.sendsRaw }
    /// Whether body bytes of the response may go to the client unread.
    var deliversRaw: Bool { if case .delivering = stage { true } else { false } }
    /// Whether a paced response has queued so much that the origin is not read.
    var isPacedFull: Bool { if case .pacing(let paced) = stage { paced.isFull } else { false } }

    /// Whether the request's body is read.
    var wantsBody: Bool {
        guard !body.hasEnded, attempt.upload?.bytes.isFull != true else { return false }
        switch stage {
        case .collecting: return true
        case .awaiting, .delivering, .holding: return !body.isKept
        case .pacing(let paced): return !body.isKept && !paced.isWhole
        case .reading, .authenticating, .leasing, .deciding, .calling, .waiting, .intercepting, .tunnelling, .over:
            return false
        }
    }

    /// Whether the client has received part of its response.
    var hasStarted: Bool {
        switch stage {
        case .delivering: true
        case .pacing(let paced): paced.hasStarted
        case .reading, .authenticating, .collecting, .leasing, .awaiting, .holding, .deciding, .calling, .waiting,
            .intercepting, .tunnelling, .over:
            false
        }
    }

    // MARK: calls

    /// The request as it goes out.
    var sentHead: RequestHead { attempt.sent(request) }

    /// The head from which a further attempt starts.
    var basisHead: RequestHead {
        (engine.settings.chain.editsPersist ? attempt.plain ?? attempt.head : attempt.basis?.head) ?? request
    }

    var terms: RouterTerms { calling == nil ? .client : .call }
    var call: FilterCall? { calling?.call }
    var caller: ExchangeID? { calling?.caller }

    /// Whether this is a call that goes on after its exchange has ended.
    var isOrphan: Bool { calling?.limit != nil }

    /// The time limit of such a call, in milliseconds.
    private static let longestOrphan = 60_000

    /// The caller is gone. A call that has gone out, and whose response is still of use, runs to its end.
    /// - Returns: false for any other call.
    mutating func isLeft(_ out: borrowing Outbox) -> Bool {
        guard let calling, let heir = calling.call.heir else { return false }
        if isOrphan { return !isOver }
        if out.isLeaving, !heir.isAwaited { return false }
        switch stage {
        case .awaiting, .holding, .intercepting, .waiting(.called): break
        case .reading, .authenticating, .collecting, .leasing, .delivering, .deciding, .calling, .waiting, .pacing,
            .tunnelling, .over:
            return false
        }
        let limit = out.now + Self.longestOrphan
        calling.leave(until: limit)
        heir.inherit(until: limit)
        wait(until: bounded(deadline))
        return true
    }

    /// The limits at which the caller holds a place during the call.
    var callersPlaces: [LimitKey] { calling?.places ?? [] }

    /// - Parameters:
    ///   - places: the limits at which the calling exchange holds a place.
    ///   - began: when the calling exchange began.
    mutating func becomeCall(_ call: FilterCall, for caller: ExchangeID, places: [LimitKey], began: Int) {
        calling = CallUnderWay(call, for: caller, places: places)
        log.capture.began = began
        log.record.reset(flow: 0)
    }

    // MARK: the log

    /// Logs the head of the request.
    mutating func noteHead() { log.begin(request, tellsProvenance: engine.settings.disclosure.tellsProvenance) }

    // MARK: the end

    /// Ends the exchange after a complete response.
    mutating func complete(_ now: Int) { end(.complete, now) }

    /// Ends the exchange without a complete response.
    mutating func cut(reset: Bool, _ out: inout Outbox) {
        if awaitsResponse { filters?.end(.cutShort) }
        release(reusable: false, &out)
        end(.cut(reset: reset), out.now)
    }

    mutating func end(_ ending: Ending, _ now: Int) {
        log.record.milliseconds = now - log.capture.began
        filters = nil
        attempt.forget()
        enter(.over(ending), until: .max)
    }

    /// Gives back the origin's connection, if any, and cancels external code.
    mutating func release(reusable: Bool, _ out: inout Outbox) {
        if isLeased { out.orders.append(.release(id, reusable: reusable)) }
        if case .intercepting = stage { out.orders.append(.cancelIntercept(id)) }
    }
}
