import Authorization
import HTTPCodec
import Interception

/// One request and its response, as a machine. It knows messages: no bytes of the wire, no version of HTTP, and not whether
/// other exchanges share its connections. What it wants done leaves as replies (the client's side) and orders (the
/// origin's), by the outbox.
struct Exchange: ~Copyable {
    private(set) var id: ExchangeID
    private(set) var engine: Engine
    /// Where this exchange is a filter's call.
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
    /// When `woke` is due.
    private(set) var deadline = Int.max

    init(_ id: ExchangeID, _ engine: Engine) {
        self.id = id
        self.engine = engine
        log = ExchangeLog(engine.redaction)
    }

    /// Makes an exchange that is over ready to be another one. Buffers are kept.
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

    /// Its body.
    var body: RequestBody {
        _read { yield received.body }
        _modify { yield &received.body }
    }

    /// A head larger than that is a rare one.
    private static let keptCapacity = 16 << 10

    /// Another generation of the configuration is what it is judged by.
    mutating func adopt(_ engine: Engine) {
        self.engine = engine
        log.adopt(engine.redaction)
    }

    /// Lets go of what it shares with others, of large buffers, and of all that a call said: a session, and passwords.
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

    /// Enters a stage that has to be over by a time.
    mutating func enter(_ stage: Stage, until time: Int) {
        enter(stage)
        deadline = time
    }

    mutating func wait(until time: Int) { deadline = time }

    /// No wait of a filter goes past the time that the whole of it may take. Once the client is being answered, the answer
    /// takes the time it takes.
    func bounded(_ time: Int) -> Int {
        if let limit = calling?.limit { return min(time, limit) }
        return min(time, filters?.limit ?? .max)
    }

    var isOver: Bool { if case .over = stage { true } else { false } }
    var isReading: Bool { if case .reading = stage { true } else { false } }
    var isTunnelling: Bool { if case .tunnelling = stage { true } else { false } }

    /// It holds an origin's connection, or waits for one.
    var isLeased: Bool {
        switch stage {
        case .leasing, .awaiting, .delivering, .holding, .tunnelling: true
        case .pacing(let paced): !paced.isWhole
        case .reading, .authenticating, .collecting, .deciding, .calling, .waiting, .intercepting, .over: false
        }
    }

    /// The request is out, and its answer has not come whole.
    var awaitsResponse: Bool {
        switch stage {
        case .awaiting, .delivering, .holding: true
        case .pacing(let paced): !paced.isWhole
        case .reading, .authenticating, .collecting, .leasing, .deciding, .calling, .waiting, .intercepting,
            .tunnelling, .over:
            false
        }
    }

    /// What comes of the body may go to the origin without a look at it.
    var streamsRaw: Bool { wantsBody && awaitsResponse && attempt.lease.sendsRaw }
    /// What comes of the answer's body may go to the client without a look at it.
    var deliversRaw: Bool { if case .delivering = stage { true } else { false } }
    /// So much of the answer waits that no more of it is wanted now.
    var isPacedFull: Bool { if case .pacing(let paced) = stage { paced.isFull } else { false } }

    /// The request's body is wanted.
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

    /// The client has part of its answer.
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

    /// What a further attempt would begin with.
    var basisHead: RequestHead {
        (engine.settings.chain.editsPersist ? attempt.plain ?? attempt.head : attempt.basis?.head) ?? request
    }

    var terms: RouterTerms { calling == nil ? .client : .call }
    var call: FilterCall? { calling?.call }
    var caller: ExchangeID? { calling?.caller }

    /// A call that goes on though its exchange is over.
    var isOrphan: Bool { calling?.limit != nil }

    /// How long such a call may take.
    private static let longestOrphan = 60_000

    /// Whoever made this call is gone. One that has gone out, and whose answer somebody is for, is heard to its end.
    /// - Returns: false for any other.
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

    /// The limits at which its caller has a place while it is under way.
    var callersPlaces: [LimitKey] { calling?.places ?? [] }

    /// - Parameters:
    ///   - places: the limits at which the exchange has a place that makes the call.
    ///   - began: when that did.
    mutating func becomeCall(_ call: FilterCall, for caller: ExchangeID, places: [LimitKey], began: Int) {
        calling = CallUnderWay(call, for: caller, places: places)
        log.capture.began = began
        log.record.reset(flow: 0)
    }

    // MARK: the log

    /// The request's head is here.
    mutating func noteHead() { log.begin(request, tellsProvenance: engine.settings.disclosure.tellsProvenance) }

    // MARK: the end

    /// The client has its answer.
    mutating func complete(_ now: Int) { end(.complete, now) }

    /// Ends without an answer, or in the middle of one.
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

    /// Gives the origin's connection back, where there is one, and waits for nobody's code.
    mutating func release(reusable: Bool, _ out: inout Outbox) {
        if isLeased { out.orders.append(.release(id, reusable: reusable)) }
        if case .intercepting = stage { out.orders.append(.cancelIntercept(id)) }
    }
}
