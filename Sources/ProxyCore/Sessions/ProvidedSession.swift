import Authorization
import HTTPCodec
import Interception

/// The session that Usher adds to a request without one. The filters of the exchange share it: one adds it, others renew or
/// upgrade it.
final class ProvidedSession {
    private enum Kind {
        case none
        case learned(SessionSource)
        /// - Parameter material: identifies the login.
        case own(OwnSession, material: [UInt8])
    }

    private var kind = Kind.none
    private var refused: OwnSession?
    /// The exchange has renewed the session. It renews once: a new session that is refused at once has another fault.
    var hasRenewed = false

    var source: SessionSource? {
        switch kind {
        case .none: nil
        case .learned(let source): source
        case .own(let session, _): session.source
        }
    }

    var own: OwnSession? { if case .own(let session, _) = kind { session } else { nil } }

    /// All clients of the proxy share the session.
    var isShared: Bool { own != nil }

    func take(learned source: SessionSource) { kind = .learned(source) }
    func take(_ session: OwnSession, material: [UInt8]) { kind = .own(session, material: material) }
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
    func takeRefused() -> OwnSession? {
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
            stores?.learned.replaced(old.token, by: new)
        case .own(let session, let material):
            var new: OwnSession?
            stores?.own.change(material) { known in
                // another exchange may have stored it first
                if known.source.isSame(as: token) {
                    new = known
                } else if known === session {
                    new = session.upgraded(to: token, affinity: outcome.affinity)
                }
                return new ?? known
            }
            kind = .own(new ?? session.upgraded(to: token, affinity: outcome.affinity), material: material)
        }
    }
}
