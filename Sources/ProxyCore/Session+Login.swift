import Authorization
import HTTPCodec
import Interception

/// A step-up's login before and after its calls: whether it may begin, and what became of its answers.
extension Session {
    /// Milliseconds after which a login that waits for others asks again.
    private static let patience = 50

    /// Begins the login, waits until it may begin, or gives it up where AM refused its answers lately.
    mutating func beginLogin(_ out: inout Outbox) {
        guard let state = stepUp, var machine = state.machine else { return abandon(reset: true, &out) }
        if let logins {
            let limits = state.policy.lockout
            switch logins.begin(machine.login, limits) {
            case .go(let key):
                let attempt = LoginAttempt(logins, key, limits)
                stepUp.change { $0.attempt = attempt }
            case .later:
                phase = .waiting
                deadline = bounded(now + Self.patience)
                return
            case .held(let refusals, let milliseconds):
                return holdOff(refusals, milliseconds, &out)
            }
        }
        let order = machine.begin()
        stepUp.change {
            $0.hasBegun = true
            $0.machine = machine
        }
        tellStory()
        perform(order, &out)
    }

    private mutating func holdOff(_ refusals: Int, _ milliseconds: Int, _ out: inout Outbox) {
        let times = refusals == 1 ? "once" : "\(refusals) times in a row"
        let seconds = (milliseconds + 999) / 1000
        giveUp(
            "no step-up: AM refused these answers \(times), so they are not tried again for \(seconds) s "
                + "(authorization.lockout); the original answer was delivered", &out)
    }

    /// The login failed.
    mutating func judgeLogin(_ failure: StepUp.Failure) {
        stepUp?.attempt?.judge(failure.doubtsAnswers ? .refused : .unjudged)
    }

    /// AM reports success.
    mutating func loginGranted(_ advice: Advice) {
        guard let attempt = stepUp?.attempt else { return }
        attempt.grant()
        // a refused upgrade is a 401; how a transaction went only the resource tells
        if !advice.isTransaction { attempt.judge(.taken) }
    }

    /// The answer to a replay is an advice once more.
    mutating func judgeLogin(by advice: Advice) {
        guard let attempt = stepUp?.attempt, attempt.isGranted else { return }
        if advice.isTransaction {
            note(.note, "AM did not approve the transaction: \(AnswerFault.suspicion)")
        }
        attempt.judge(advice.isTransaction ? .refused : .unjudged)
        stepUp.change { $0.attempt = nil }
    }

    /// The answer to a replay goes to the client.
    mutating func judgeLogin(byStatus status: Int) {
        guard let attempt = stepUp?.attempt, attempt.isGranted else { return }
        attempt.judge((200..<300).contains(status) ? .taken : .unjudged)
        stepUp.change { $0.attempt = nil }
    }
}
