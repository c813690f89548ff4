import Authorization

/// Passes a session's successor to the stores, after AM replaced the session.
struct SessionSuccession {
    /// The session that AM was asked about.
    let old: String
    /// The session that Usher added to a request without one.
    let provided: ProvidedSession?
    /// The sessions of clients are learned.
    let isLearned: Bool
    let sessions: SessionStores?
    let decisions: (any DecisionStore)?

    func take(_ outcome: StepUp.Outcome) {
        guard let token = outcome.session else { return }
        decisions?.end([old])
        let new = SessionSource(token: token, carrier: .provided, affinity: outcome.affinity)
        if provided?.source == nil, isLearned { sessions?.learned?.replaced(old, by: new) }
        provided?.upgrade(to: outcome, sessions)
    }
}
