import HTTPCodec
import Interception

/// Takes the exchange from stage to stage, each with the time by which it must end.
extension ExchangeInfo {
    /// Limits a filter's wait to the total time for waits. Once the response goes to the client, no such
    /// limit applies.
    func bounded(_ time: Int) -> Int {
        if let limit = calling?.limit { return min(time, limit) }
        return min(time, filters?.limit ?? .max)
    }

    /// Enters a stage that ends when nothing moves for the idle timeout.
    mutating func enter(_ moving: ExchangeStage.State, _ now: Int) {
        stage.enter(moving, until: bounded(now + engine.settings.timeouts.idle))
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

    // MARK: timeouts

    /// Restarts the idle timeout when relayed bytes moved or a slow reader took some. It does not extend
    /// waits for a connection or for AM. The client's reading, of interim responses above all, is no sign that the
    /// origin will respond.
    /// - Parameter isSent: the whole request has gone out.
    mutating func touched(_ side: ConnectionSide, isSent: Bool, _ now: Int) {
        let timeouts = engine.settings.timeouts
        switch stage.state {
        case .delivering, .holding: stage.wait(until: bounded(now + timeouts.idle))
        case .awaiting where side == .origin:
            stage.wait(until: bounded(now + (isSent ? timeouts.response : timeouts.idle)))
        case .awaiting, .reading, .authenticating, .collecting, .leasing, .deciding, .calling, .waiting, .intercepting,
            .pacing, .tunnelling, .over:
            break
        }
    }

    /// When to give up a request whose client has closed its sending side before any part of the response came:
    /// the client may be gone.
    /// - Parameters:
    ///   - ended: when the client closed its side.
    ///   - hasAnswered: part of a response has come.
    func halfClosedLimit(_ ended: Int?, hasAnswered: Bool) -> Int {
        guard let ended, terms.hasClient, stage.precedesResponse else { return .max }
        let timeout = engine.settings.timeouts.halfClosed
        let hasBegun = filters?.keepsResponse == true || (stage.isLeased && hasAnswered)
        return timeout == 0 || hasBegun ? .max : max(ended, log.capture.began) + timeout
    }

    // MARK: the end

    /// Gives back the origin's connection, if any, and cancels external code.
    func release(reusable: Bool, _ out: inout CommandBuffer) {
        if stage.isLeased { out.commands.append(.release(id, reusable: reusable)) }
        if case .intercepting = stage.state { out.commands.append(.cancelIntercept(id)) }
    }

    /// Ends the exchange without a complete response.
    mutating func cut(reset: Bool, _ out: inout CommandBuffer) {
        if stage.awaitsResponse { filters?.end(.cutShort) }
        release(reusable: false, &out)
        end(.cut(reset: reset), out.now)
    }

    mutating func end(_ ending: ExchangeStage.Ending, _ now: Int) {
        log.record.milliseconds = now - log.capture.began
        filters = nil
        stage.enter(.over(ending), until: .max)
    }

    /// The client is gone: ends a step-up that runs only for it.
    /// - Returns: false when none is under way.
    @discardableResult
    mutating func noteAbandoned(_ now: Int) -> Bool {
        guard filters?.endsWithClient == true else { return false }
        log.tell(.abandoned, now)
        return true
    }

    /// The caller is gone. A call that has gone out, and whose response is still of use, runs to its end.
    /// - Returns: false for any other call.
    mutating func isLeft(_ out: borrowing CommandBuffer) -> Bool {
        guard let calling else { return false }
        if calling.isOrphan { return !stage.isOver }
        guard calling.goesOn(in: stage, out) else { return false }
        stage.wait(until: bounded(stage.deadline))
        return true
    }
}
