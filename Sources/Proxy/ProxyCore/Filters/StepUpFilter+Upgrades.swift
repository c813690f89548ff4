import Authorization
import Interception

/// Uses sessions that other requests of the same client have upgraded.
extension StepUpFilter {
    /// Uses the new session in place of one that AM no longer knows, if this client has just upgraded it.
    func follows(_ session: SessionSource, _ context: FilterContext) -> Bool {
        let mark = mark(of: session, context)
        guard replay == nil, context.refusal(listed: policy.origins) == nil,
            let earlier = context.sessions?.upgrades.change({ $0.first(context.time) { $0.replaces(mark) } })
        else { return false }
        var replay = Replay(policy: policy, resource: resource, session: session, idToken: context.idToken(policy))
        replay.take(earlier.outcome)
        self.replay = replay
        return true
    }

    /// A place among those who wait for this client's upgrade of that session; nil if none is under way.
    func placeToFollow(_ session: SessionSource, _ context: FilterContext) -> WaitingPlace<SharedUpgrade>? {
        let mark = mark(of: session, context)
        guard let store = context.sessions?.upgrades, let key = store.change({ $0.fetched { $0.mark == mark } })
        else { return nil }
        return WaitingPlace(store, .fetch(key))
    }

    private func mark(of session: SessionSource, _ context: FilterContext) -> Int {
        let client = isShared(session) ? "" : owner(context)
        return SharedUpgrade.mark(of: session.token, for: client, at: policy.server.url)
    }

    /// The changes to make when AM replaces the session that it was asked about; nil if it was asked about none.
    func succession(_ context: FilterContext) -> SessionSuccession? {
        replay.map {
            SessionSuccession(
                old: $0.session.token, provided: provided, isLearned: policy.learns, sessions: context.sessions,
                decisions: context.decisions)
        }
    }

    /// The background call that gets AM's response after the client has left.
    func detachedCall(of round: Round, _ context: FilterContext) -> BackgroundStepUp? {
        guard round.machine.mayWin, let succession = succession(context) else { return nil }
        return BackgroundStepUp(
            round.machine, for: round.advice, succession, sharing.made, login, context.circumstances
        )
    }

    func mark(_ context: FilterContext) -> Int { replay.map { mark(of: $0.session, context) } ?? 0 }
}
