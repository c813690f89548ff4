internal import Formats
public import HTTPCodec
internal import Interception

/// Obtains a session for Usher, or resets the idle time of the existing one. A state machine that takes AM's responses and
/// returns the next step; no I/O, no clock.
public struct SessionConversation: Sendable {
    public enum Command: Sendable {
        case send(ServerCall)
        /// Wait before the next call; continues with `woke()`.
        case wait(milliseconds: Int)
        case won(SessionSource, SessionTimes)
        case failed(StepUp.Failure)
    }

    private enum Stage {
        case begun
        case renews(SessionSource)
        case logsIn(StepUp)
        /// The session is obtained; AM is asked for its lifetime.
        case asks(SessionSource)
    }

    private let policy: AuthorizationPolicy
    /// The existing session, if its idle time may be reset.
    private let old: SessionSource?
    private var stage = Stage.begun
    private var notes: [String] = []

    public init(_ policy: AuthorizationPolicy, renewing old: SessionSource?) {
        self.policy = policy
        self.old = old
    }

    private var settings: SessionLogin { policy.sessions.login }

    /// The identity of this login.
    public var login: Login { fresh.login }

    private var fresh: StepUp {
        StepUp(
            policy: policy.forLogin, tree: settings.tree, realm: settings.realm,
            users: settings.user.map { [$0] } ?? [])
    }

    /// True if a session is available and the call under way only asks for its lifetime. Users need not wait for it.
    public var hasSession: Bool {
        switch stage {
        case .asks, .renews: true
        case .begun, .logsIn: false
        }
    }

    /// The events since the last call, one sentence each, without secrets.
    public mutating func takeNotes() -> [String] {
        defer { notes.removeAll() }
        return notes
    }

    public mutating func begin(_ now: Circumstances = Circumstances()) -> Command {
        guard let old else { return logIn(now) }
        stage = .renews(old)
        return ask(.reset, old) ?? logIn(now)
    }

    private mutating func logIn(_ now: Circumstances) -> Command {
        var machine = fresh
        return perform(machine.begin(now), machine)
    }

    /// Handles AM's complete response to the last call.
    public mutating func answered(
        status: Int, fields: FieldTable, body: [UInt8], _ now: Circumstances = Circumstances()
    ) -> Command {
        switch stage {
        case .begun: return .failed(.init(.cancelled, "a response came to a login that sent no request"))
        case .logsIn(var machine):
            return perform(machine.answered(status: status, fields: fields, body: body, now), machine)
        case .renews(let session):
            guard status == 200, let times = times(body) else {
                notes.append(
                    status == 200
                        ? "AM does not tell how long the session lasts" : "AM has the session no more (\(status))")
                return logIn(now)
            }
            notes.append("the session's idle time begins anew")
            return .won(session, times)
        case .asks(let session):
            guard status == 200, let times = times(body) else {
                notes.append("AM does not tell how long the session lasts (\(status)); max_idle and max_time count")
                return .won(session, configured)
            }
            return .won(session, times)
        }
    }

    /// Continues after a wait.
    public mutating func woke(_ now: Circumstances = Circumstances()) -> Command {
        guard case .logsIn(var machine) = stage else {
            return .failed(.init(.cancelled, "woken without having waited"))
        }
        return perform(machine.woke(now), machine)
    }

    /// Handles a call without a response.
    /// - Returns: nil if the login fails with it.
    public mutating func failed(_ reason: String) -> Command? {
        guard case .asks(let session) = stage else { return nil }
        notes.append("\(reason); max_idle and max_time of the configuration count")
        return .won(session, configured)
    }

    private mutating func perform(_ order: StepUp.Command, _ machine: StepUp) -> Command {
        var machine = machine
        notes += machine.takeNotes()
        stage = .logsIn(machine)
        switch order {
        case .send(let call): return .send(call)
        case .wait(let milliseconds): return .wait(milliseconds: milliseconds)
        case .ask:
            return .failed(.init(.unanswered, "a person would have to be asked, and a login of Usher's own asks none"))
        case .failed(let failure): return .failed(failure)
        case .succeeded(let outcome):
            let session = SessionSource(token: outcome.session ?? "", carrier: .provided, affinity: outcome.affinity)
            stage = .asks(session)
            return ask(.info, session) ?? .won(session, configured)
        }
    }

    private func ask(_ question: SessionQuestion, _ session: SessionSource) -> Command? {
        (try? policy.server.sessionCall(question, session, realm: settings.realm, number: 1)).map { .send($0) }
    }

    private var configured: SessionTimes { SessionTimes(idle: settings.maxIdle, total: settings.maxTime) }
    private func times(_ body: [UInt8]) -> SessionTimes? {
        (try? JSONValue(parsing: body)).flatMap { SessionTimes($0) }
    }
}
