import Authorization
import HTTPCodec
import Interception

/// The session that Usher shows for a request which carries none, as its filters know it: that which shows it, and those that
/// may find that it is over, or win another in its place.
final class ProvidedSession {
    private enum Kind {
        case none
        case learned(SessionSource)
        /// - Parameter material: which login's it is.
        case own(OwnSession, material: [UInt8])
    }

    private var kind = Kind.none
    private var refused: OwnSession?
    /// An exchange has it renewed once: what is refused as soon as it was won is refused for another reason.
    var hasRenewed = false

    var source: SessionSource? {
        switch kind {
        case .none: nil
        case .learned(let source): source
        case .own(let session, _): session.source
        }
    }

    var own: OwnSession? { if case .own(let session, _) = kind { session } else { nil } }

    /// All who use the proxy share it.
    var isShared: Bool { own != nil }

    func take(learned source: SessionSource) { kind = .learned(source) }
    func take(_ session: OwnSession, material: [UInt8]) { kind = .own(session, material: material) }
    func drop() { kind = .none }

    /// AM knows it no more: another one is won before the request goes out.
    /// - Returns: false where none is.
    func refuse() -> Bool {
        guard !hasRenewed, let own else { return false }
        hasRenewed = true
        refused = own
        return true
    }

    /// The one in whose place another is to be won.
    func takeRefused() -> OwnSession? {
        defer { refused = nil }
        return refused
    }

    /// AM has put another in its place, for this exchange and for all that come.
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
                // another exchange may have told it first
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
