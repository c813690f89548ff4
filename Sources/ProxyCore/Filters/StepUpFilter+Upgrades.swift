import Authorization
import Interception

/// Sessions that other requests of the same client have upgraded.
extension StepUpFilter {
    /// Goes by the session that has taken the place of one that AM knows no more: this client had it upgraded a moment ago.
    func follows(_ session: SessionSource, _ context: FilterContext) -> Bool {
        let mark = mark(of: session, context)
        guard replay == nil, context.initiator.refusal(listed: policy.origins) == nil,
            let earlier = context.sessions?.upgrades.first({ $0.replaces(mark) })
        else { return false }
        var replay = Replay(policy: policy, resource: resource, session: session, idToken: context.idToken(policy))
        replay.take(earlier.outcome)
        self.replay = replay
        return true
    }

    /// This client has that session upgraded, or waits for that.
    func mayFollow(_ session: SessionSource, _ context: FilterContext) -> Bool {
        context.sessions?.upgrades.isBusy(mark(of: session, context)) == true
    }

    private func mark(of session: SessionSource, _ context: FilterContext) -> Int {
        let client = isShared(session) ? "" : owner(context)
        return SharedUpgrade.mark(of: session.token, for: client, at: policy.server.url)
    }

    /// What changes where AM puts another session in the place of the one that it was asked about; nil where it was asked
    /// about none.
    func succession(_ context: FilterContext) -> SessionSuccession? {
        replay.map {
            SessionSuccession(
                of: $0.session.token, provided: provided, isLearned: policy.learns, sessions: context.sessions,
                decisions: context.decisions)
        }
    }

    /// Who hears the answer to what the machine asks where the client has left.
    func heir(of round: Round, _ context: FilterContext) -> StepUpErrand? {
        guard round.machine.mayWin, let succession = succession(context) else { return nil }
        return StepUpErrand(
            round.machine, for: round.advice, succession, sharing.led, mark: mark(context), login, context.circumstances
        )
    }

    func mark(_ context: FilterContext) -> Int { replay.map { mark(of: $0.session, context) } ?? 0 }
}
