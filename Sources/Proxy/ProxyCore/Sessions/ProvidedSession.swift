import Authorization

/// The session that Usher adds to a request without one. The filters of the exchange share it: one adds it, others renew or
/// upgrade it.
final class ProvidedSession {
    private enum Kind {
        case none
        case learned(SessionSource)
        case own(Own, SessionKey)
    }

    typealias Own = CredentialLedger<KeptSession>.Kept

    private var kind = Kind.none
    private var refused: Own?
    /// The exchange has renewed the session. It renews once: a new session that is refused at once has another fault.
    var hasRenewed = false

    var source: SessionSource? {
        switch kind {
        case .none: nil
        case .learned(let source): source
        case .own(let kept, _): kept.value.session.source
        }
    }

    var own: Own? { if case .own(let kept, _) = kind { kept } else { nil } }

    /// All clients of the proxy share the session.
    var isShared: Bool { own != nil }

    func take(learned source: SessionSource) { kind = .learned(source) }
    func take(_ own: Own, _ key: SessionKey) { kind = .own(own, key) }
    func drop() { kind = .none }

    /// AM no longer knows the session; another login runs before the request goes out.
    /// - Returns: false if no login can replace it.
    func refuse() -> Bool {
        guard !hasRenewed, let own else { return false }
        hasRenewed = true
        refused = own
        return true
    }

    /// The session to replace; nil if none was refused.
    func takeRefused() -> Own? {
        defer { refused = nil }
        return refused
    }

    /// Takes the session that AM put in its place, for this exchange and all later ones.
    func upgrade(to outcome: StepUp.Outcome, _ stores: SessionStores?) {
        guard let token = outcome.session, let old = source, !old.isSame(as: token) else { return }
        switch kind {
        case .none: break
        case .learned:
            let new = SessionSource(token: token, carrier: .provided, affinity: outcome.affinity ?? old.affinity)
            kind = .learned(new)
            stores?.learned?.replaced(old.token, by: new)
        case .own(let kept, let key):
            let shared: Own? = stores?.own.change { ledger in
                guard let known = ledger.kept(key) else { return nil }
                // another exchange may have stored it first
                if known.value.session.source.isSame(as: token) { return known }
                guard known.generation == kept.generation else { return nil }
                return ledger.replace(key, by: kept.value.upgraded(to: token, affinity: outcome.affinity))
            }
            // one that is not shared has no number, so that no refusal of it counts for another
            let new = shared ?? Own(kept.value.upgraded(to: token, affinity: outcome.affinity), generation: 0, since: 0)
            kind = .own(new, key)
        }
    }
}
