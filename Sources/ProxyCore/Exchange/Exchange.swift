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
    private(set) var calling: CallUnderWay?
    var stage = ExchangeStage()
    var received = ReceivedRequest()
    var requestPhase = RequestPhase()
    var attempt = Attempt()
    var response = ResponseHead()
    var delivery = Delivery()
    var classification: Classification?
    var filters: FilterChain?
    var phases = InterceptorPhases()
    var retries = RetryLedger()
    var log: ExchangeLog

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
        stage.enter(.reading, until: .max)
        attempt.origin = nil
        attempt.hasAnswered = false
        delivery.renew()
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
        requestPhase.begin()
        attempt.forget()
        stage.enter(.over(.complete), until: .max)
    }

    // MARK: the stage

    /// Limits a filter's wait to the total time for waits. Once the response goes to the client, no such
    /// limit applies.
    func bounded(_ time: Int) -> Int {
        if let limit = calling?.limit { return min(time, limit) }
        return min(time, filters?.limit ?? .max)
    }

    var isOver: Bool { stage.isOver }
    var isReading: Bool { stage.isReading }
    var isTunnelling: Bool { stage.isTunnelling }
    var awaitsResponse: Bool { stage.awaitsResponse }

    /// Whether the request's body is read.
    var wantsBody: Bool {
        guard !body.hasEnded, !attempt.isUploadFull else { return false }
        if case .collecting = stage.state { return true }
        return stage.awaitsResponse && !body.isKept
    }

    /// Whether body bytes may go to the origin unread.
    var streamsRaw: Bool { wantsBody && stage.awaitsResponse && attempt.lease.sendsRaw }

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
    var isOrphan: Bool { calling?.isOrphan ?? false }

    /// The caller is gone. A call that has gone out, and whose response is still of use, runs to its end.
    /// - Returns: false for any other call.
    mutating func isLeft(_ out: borrowing Outbox) -> Bool {
        guard let calling else { return false }
        if calling.isOrphan { return !stage.isOver }
        guard calling.goesOn(in: stage, out) else { return false }
        stage.wait(until: bounded(stage.deadline))
        return true
    }

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
        if stage.awaitsResponse { filters?.end(.cutShort) }
        release(reusable: false, &out)
        end(.cut(reset: reset), out.now)
    }

    mutating func end(_ ending: ExchangeStage.Ending, _ now: Int) {
        log.record.milliseconds = now - log.capture.began
        filters = nil
        requestPhase.begin()
        attempt.forget()
        stage.enter(.over(ending), until: .max)
    }

    /// Gives back the origin's connection, if any, and cancels external code.
    mutating func release(reusable: Bool, _ out: inout Outbox) {
        if stage.isLeased { out.orders.append(.release(id, reusable: reusable)) }
        if case .intercepting = stage.state { out.orders.append(.cancelIntercept(id)) }
    }
}
