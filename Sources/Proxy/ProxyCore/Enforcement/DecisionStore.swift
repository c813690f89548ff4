public import Interception

/// AM's decisions for all loops; each loop has a store. It is used where AM enforces a resource, and at a session's end.
public protocol DecisionStore: AnyObject {
    /// AM cannot be asked: the question is logged, and the request goes on.
    var isDry: Bool { get }
    /// A digest that reveals nothing; nil if it cannot be made.
    func digest(_ bytes: [UInt8]) -> UInt128?
    func change<Result>(_ body: (inout PolicyDecisions) -> Result) -> Result
    /// Takes a place among the exchanges that ask; false if there is none.
    func begin(_ client: Int, most: Int) -> Bool
    /// Gives up that place.
    func finish(_ client: Int)
    /// Takes a place in the queue to ask; its holder is told when to try again. Nil if the queue is full.
    func enter(_ client: Int, most: Int) -> WaitingTicket?
    func leave(_ ticket: WaitingTicket)
}

extension DecisionStore {
    /// Drops AM's decisions for sessions that are over or were replaced.
    func end(_ tokens: Set<String>) {
        let sessions = Set(tokens.compactMap { digest(Array($0.utf8)) })
        guard !sessions.isEmpty else { return }
        change { $0.end(sessions: sessions) }
    }
}

/// A place among the exchanges that ask AM, or in their queue. It is given up with the last reference.
final class AskingPlace {
    private let store: any DecisionStore
    private let client: Int
    private let most: Int
    private var isTaken = false
    /// Its place in the queue.
    private(set) var ticket: WaitingTicket?

    init(_ store: any DecisionStore, for client: Int, most: Int) {
        self.store = store
        self.client = client
        self.most = most
    }

    /// Takes a place to ask. If there is none, it joins the queue, unless that is full.
    func take() -> Bool {
        if isTaken || begins() { return true }
        guard ticket == nil else { return false }
        ticket = store.enter(client, most: most)
        // a place may be free by now without a notice
        return begins()
    }

    private func begins() -> Bool {
        isTaken = store.begin(client, most: most)
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
