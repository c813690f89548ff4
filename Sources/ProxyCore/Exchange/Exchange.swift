import Authorization
import HTTPCodec
import Interception
import Passwords

/// One request and its response, as a state machine. It handles messages: it knows no wire format, no HTTP version and no
/// other exchange on its connections. Through the command buffer it issues replies for the client's side and orders for the
/// origin's side.
///
/// Its parts decide; it carries out their steps, and keeps the stage.
struct Exchange: ~Copyable {
    var info: ExchangeInfo
    var stage = ExchangeStage()
    var requestPhase = RequestPhase()
    var attempt = Attempt()
    var responsePhase = ResponsePhase()
    var delivery = Delivery()
    var filters: FilterChain?
    var retries = RetryLedger()

    init(_ id: ExchangeID, _ engine: Engine) { info = ExchangeInfo(id, engine) }

    /// Prepares a finished exchange for reuse. Buffers are kept.
    mutating func renew(_ id: ExchangeID, _ engine: Engine) {
        info.renew(id, engine)
        retries = RetryLedger()
        stage.enter(.reading, until: .max)
        attempt.origin = nil
        attempt.hasAnswered = false
        delivery.renew()
    }

    /// Releases shared objects, large buffers, and the secrets of a call.
    mutating func rest() {
        if info.calling != nil || response.fields.bytes.capacity > ExchangeInfo.keptCapacity {
            response = ResponseHead()
        }
        info.rest()
        end(.complete)
    }

    // MARK: what others see of it

    var id: ExchangeID { info.id }
    var engine: Engine { info.engine }
    var classification: Classification? { info.classification }
    var log: ExchangeLog {
        _read { yield info.log }
        _modify { yield &info.log }
    }
    /// The head of the request as the client sent it.
    var request: RequestHead {
        _read { yield info.received.head }
        _modify { yield &info.received.head }
    }
    var body: RequestBody { _read { yield info.received.body } }
    var response: ResponseHead {
        _read { yield responsePhase.head }
        _modify { yield &responsePhase.head }
    }
    /// The request as it goes out.
    var sentHead: RequestHead { attempt.sent(info.received.head) }
    var call: FilterCall? { info.call }
    var caller: ExchangeID? { info.calling?.caller }
    /// Whether this is a call that goes on after its exchange has ended.
    var isOrphan: Bool { info.calling?.isOrphan ?? false }

    var isOver: Bool { stage.isOver }
    var isReading: Bool { stage.isReading }
    var isTunnelling: Bool { stage.isTunnelling }
    var awaitsResponse: Bool { stage.awaitsResponse }

    /// Whether the request's body is read.
    var wantsBody: Bool {
        guard !info.received.body.hasEnded, !attempt.isUploadFull else { return false }
        if case .collecting = stage.state { return true }
        return stage.awaitsResponse && !info.received.body.isKept
    }

    /// Whether body bytes may go to the origin unread.
    var streamsRaw: Bool { wantsBody && stage.awaitsResponse && attempt.lease.sendsRaw }

    // MARK: calls

    /// Runs a filter's call: like any exchange, but without filters.
    mutating func beginCall(_ context: inout ClientContext, _ out: inout CommandBuffer) {
        info.receiveCall(out.now)
        perform(requestPhase.run(&info, &attempt, hasFilters: false, context, out), &context, &out)
    }

    /// The caller is gone. A call that has gone out, and whose response is still of use, runs to its end.
    /// - Returns: false for any other call.
    mutating func isLeft(_ out: borrowing CommandBuffer) -> Bool {
        guard let calling = info.calling else { return false }
        if calling.isOrphan { return !stage.isOver }
        guard calling.goesOn(in: stage, out) else { return false }
        stage.wait(until: bounded(stage.deadline))
        return true
    }

    // MARK: waits

    /// Limits a filter's wait to the total time for waits. Once the response goes to the client, no such
    /// limit applies.
    func bounded(_ time: Int) -> Int {
        if let limit = info.calling?.limit { return min(time, limit) }
        return min(time, filters?.limit ?? .max)
    }

    /// Waits until a time.
    mutating func wait(_ resumption: ExchangeStage.Resumption, until time: Int, _ out: inout CommandBuffer) {
        stage.enter(.waiting(resumption), until: time)
        out.commands.append(.wake(at: time))
    }

    /// Waits for code that runs off the loop.
    mutating func suspend(_ phase: SuspendedPhase, _ out: inout CommandBuffer) {
        let limit = bounded(out.now + phase.suspension.call.deadline)
        stage.enter(.intercepting(phase), until: limit)
        out.commands.append(.intercept(id, phase.suspension.call))
        out.commands.append(.wake(at: limit))
    }

    /// What an exchange may wait for beside the origin.
    enum Awaited {
        case password(PasswordVerdict)
        /// The result of code that runs off the loop.
        case code(SwiftAnswer)
        /// Its turn at a limit, a person's answer, or the result of another exchange.
        case ticket(WaitingTicket)
        /// The response to a filter's call.
        case response(HeldResponse)
        /// A filter's call has failed.
        case noResponse(String)
    }

    /// Continues after a wait. What comes late finds another stage and is ignored.
    mutating func came(_ awaited: Awaited, _ context: inout ClientContext, _ out: inout CommandBuffer) {
        switch (awaited, stage.state) {
        case (.password(let verdict), .authenticating):
            perform(Reception.authenticated(verdict, &info, &context, &out), &context, &out)
        case (.code(let answer), .intercepting(let phase)):
            stage.enter(.deciding)
            switch phase.message {
            case .request(let head):
                perform(
                    requestPhase.resume(phase, answer, of: head, &info, &attempt, context, out), &context, &out)
            case .response(let body, let point):
                perform(
                    responsePhase.resume(phase, answer, of: body, at: point, &info, attempt, out), &context, &out)
            }
        case (.ticket(let ticket), .waiting(.request)) where ticket.kind == .limit && requestPhase.awaitsTurn:
            resume(.request, &context, &out)
        case (.ticket(let ticket), .waiting(.filter)) where ticket.kind != .limit: _ = handled(.woke, &context, &out)
        case (.response(let held), .calling): if !handled(.answered(held), &context, &out) { cut(reset: true, &out) }
        case (.noResponse(let reason), .calling):
            if !handled(.failed(reason), &context, &out) { cut(reset: true, &out) }
        case (.password, _), (.code, _), (.ticket, _), (.response, _), (.noResponse, _): break
        }
    }

    // MARK: the end

    /// Ends the exchange without a complete response.
    mutating func cut(reset: Bool, _ out: inout CommandBuffer) {
        if stage.awaitsResponse { filters?.end(.cutShort) }
        release(reusable: false, &out)
        end(.cut(reset: reset), out.now)
    }

    mutating func end(_ ending: ExchangeStage.Ending, _ now: Int) {
        log.record.milliseconds = now - log.capture.began
        end(ending)
    }

    private mutating func end(_ ending: ExchangeStage.Ending) {
        filters = nil
        requestPhase.begin()
        attempt.forget()
        stage.enter(.over(ending), until: .max)
    }

    /// Gives back the origin's connection, if any, and cancels external code.
    mutating func release(reusable: Bool, _ out: inout CommandBuffer) {
        if stage.isLeased { out.commands.append(.release(id, reusable: reusable)) }
        if case .intercepting = stage.state { out.commands.append(.cancelIntercept(id)) }
    }
}
