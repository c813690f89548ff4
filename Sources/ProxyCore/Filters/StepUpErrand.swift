import Authorization
import HTTPCodec

/// A call that may win another session in the place of the one that AM was asked about. An object: AM does so whether anybody
/// hears of it or not, so it outlives the exchange that made the call, and what it wins is there for the others.
final class StepUpErrand {
    private var machine: StepUp
    private let advice: Advice
    private let succession: SessionSuccession
    /// Nil where the upgrade is for that exchange alone.
    private let flight: Flight<SharedUpgrade>?
    private let mark: Int
    private let login: LoginAttempt?
    private var circumstances: Circumstances

    /// - Parameters:
    ///   - machine: as it was when it asked.
    ///   - mark: of the session (`SharedUpgrade.mark`).
    init(
        _ machine: StepUp, for advice: Advice, _ succession: SessionSuccession, _ flight: Flight<SharedUpgrade>?,
        mark: Int, _ login: LoginAttempt?, _ circumstances: Circumstances
    ) {
        self.machine = machine
        self.advice = advice
        self.succession = succession
        self.flight = flight
        self.mark = mark
        self.login = login
        self.circumstances = circumstances
    }
}

extension StepUpErrand: CallHeir {
    /// What it wins is known to this process alone.
    var isAwaited: Bool { flight?.isAwaited == true }

    /// A place in a flight has no end of its own.
    func inherit(until time: Int) {}

    func heard(_ response: HeldResponse, _ now: LoginTime) {
        circumstances.seconds = now.seconds
        circumstances.milliseconds = now.milliseconds
        switch machine.answered(
            status: response.head.status, fields: response.head.fields, body: response.body, circumstances)
        {
        case .succeeded(let outcome):
            succession.take(outcome)
            login?.grant(by: advice)
            flight?.win(outcome, of: succession.old, mark: mark)
        case .failed(let failure):
            login?.judge(failure.doubtsAnswers ? .refused : .unjudged)
            if !failure.isTransient { flight?.fail(failure.reason, for: 0) }
        // nobody is here to go on: the next one of those who wait begins anew
        case .send, .wait, .ask: break
        }
    }
}
