public import Authorization

/// AM's decisions, for all loops: one for each loop. Asked only where a resource is enforced by AM, and where a session ends.
public protocol DecisionStore: AnyObject {
    /// Nobody can be asked here: what would be asked is told, and the request goes on.
    var isDry: Bool { get }
    /// A digest that tells nothing to whoever reads it; nil where it cannot be made.
    func digest(_ bytes: [UInt8]) -> UInt128?
    func change<Result>(_ body: (inout PolicyDecisions) -> Result) -> Result
    /// One of those who ask does so no more.
    func finish(_ client: Int)
    /// A place among those who wait to ask. Whoever has it is told when to try again. Nil where there is no room.
    func enter(_ client: Int, most: Int) -> FlightTicket?
    func leave(_ ticket: FlightTicket)
}

extension DecisionStore {
    /// These sessions are over, or others have taken their place: what AM decided for them is worth nothing any more.
    func end(_ tokens: Set<String>) {
        let sessions = Set(tokens.compactMap { digest(Array($0.utf8)) })
        guard !sessions.isEmpty else { return }
        change { $0.end(sessions: sessions) }
    }
}

/// A place among those who ask AM, or who wait to do so. It is given back with the last reference, however that goes.
final class AskingPlace {
    private let store: any DecisionStore
    private let client: Int
    private let most: Int
    private var isTaken = false
    /// By which it waits.
    private(set) var ticket: FlightTicket?

    init(_ store: any DecisionStore, for client: Int, most: Int) {
        self.store = store
        self.client = client
        self.most = most
    }

    /// Takes a place among those who ask. Where there is none it waits, unless there is no room for that either.
    func take() -> Bool {
        if isTaken || begins() { return true }
        guard ticket == nil else { return false }
        ticket = store.enter(client, most: most)
        // there may be a place by now, of which nobody was told
        return begins()
    }

    private func begins() -> Bool {
        isTaken = store.change { $0.begin(client, most: most) }
        if isTaken { leave() }
        return isTaken
    }

    private func leave() {
        if let ticket { store.leave(ticket) }
        ticket = nil
    }

    deinit {
        leave()
        if isTaken { store.finish(client) }
    }
}
