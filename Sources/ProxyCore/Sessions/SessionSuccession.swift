import Authorization

/// Passes a session's successor to the stores, after AM replaced the session.
struct SessionSuccession {
    /// The session that AM was asked about.
    let old: String
    private let provided: ProvidedSession?
    private let isLearned: Bool
    private let sessions: SessionStores?
    private let decisions: (any DecisionStore)?

    /// - Parameters:
    ///   - provided: the session that Usher added to a request without one.
    ///   - isLearned: the sessions of clients are learned.
    init(
        of old: String, provided: ProvidedSession?, isLearned: Bool, sessions: SessionStores?,
        decisions: (any DecisionStore)?
    ) {
        self.old = old
        self.provided = provided
        self.isLearned = isLearned
        self.sessions = sessions
        self.decisions = decisions
    }

    func take(_ outcome: StepUp.Outcome) {
        guard let token = outcome.session else { return }
        decisions?.end([old])
        let new = SessionSource(token: token, carrier: .provided, affinity: outcome.affinity)
        if provided?.source == nil, isLearned { sessions?.learned.replaced(old, by: new) }
        provided?.upgrade(to: outcome, sessions)
    }
}
