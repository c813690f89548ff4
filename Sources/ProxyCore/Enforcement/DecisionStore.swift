/// AM's decisions, shared by all loops. Asked only where a resource is enforced by AM, and where a session ends.
public protocol DecisionStore: AnyObject, Sendable {
    /// Nobody can be asked here: what would be asked is told, and the request goes on.
    var isDry: Bool { get }
    /// A digest that tells nothing to whoever reads it; nil where it cannot be made.
    func digest(_ bytes: [UInt8]) -> UInt128?
    func change<Result>(_ body: (inout PolicyDecisions) -> Result) -> Result
}

extension DecisionStore {
    /// These sessions are over, or others have taken their place: what AM decided for them is worth nothing any more.
    func end(_ tokens: Set<String>) {
        let sessions = Set(tokens.compactMap { digest(Array($0.utf8)) })
        guard !sessions.isEmpty else { return }
        change { $0.end(sessions: sessions) }
    }
}

/// A place among those who ask AM. It is given back with the last reference, however that goes.
final class AskingPlace {
    private let store: any DecisionStore
    private let client: Int

    /// Nil where there is none yet.
    init?(_ store: any DecisionStore, for client: Int, most: Int) {
        guard store.change({ $0.begin(client, most: most) }) else { return nil }
        self.store = store
        self.client = client
    }

    deinit { store.change { $0.finish(client) } }
}
