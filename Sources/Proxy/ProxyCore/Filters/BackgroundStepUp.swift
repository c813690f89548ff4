import Authorization
import HTTPCodec

/// A call that may replace the session that AM was asked about. It is a class that outlives its exchange: AM replaces the session
/// even if the client leaves, and other requests use the result.
final class BackgroundStepUp {
    private var machine: StepUp
    private let advice: Advice
    private let succession: SessionSuccession
    /// Nil if the upgrade is for that exchange alone.
    private let fetch: CredentialFetch<SharedUpgrade>?
    private let login: LoginAttempt?
    private var circumstances: Circumstances

    /// - Parameter machine: its state when it made the call.
    init(
        _ machine: StepUp, for advice: Advice, _ succession: SessionSuccession,
        _ fetch: CredentialFetch<SharedUpgrade>?,
        _ login: LoginAttempt?, _ circumstances: Circumstances
    ) {
        self.machine = machine
        self.advice = advice
        self.succession = succession
        self.fetch = fetch
        self.login = login
        self.circumstances = circumstances
    }
}

extension BackgroundStepUp: DetachedCall {
    /// The result is held only in memory, so it matters only while others wait.
    var isAwaited: Bool { fetch?.isAwaited == true }

    /// Does nothing, as an upgrade has no time limit.
    func detach(until time: Int) {}

    func heard(_ response: HeldResponse, _ now: LoginTime) {
        circumstances.seconds = now.seconds
        circumstances.milliseconds = now.milliseconds
        switch machine.answered(
            status: response.head.status, fields: response.head.fields, body: response.body, circumstances)
        {
        case .succeeded(let outcome):
            succession.take(outcome)
            login?.grant(by: advice)
            fetch?.win(outcome, of: succession.old, now)
        case .failed(let failure):
            login?.judge(failure.doubtsAnswers ? .refused : .unjudged)
            if !failure.isTransient { fetch?.fail(LoginFault(reason: failure.reason, isRefusal: false), now) }
        // no exchange is left to continue; the next one that waits starts anew
        case .send, .wait, .ask: break
        }
    }
}
