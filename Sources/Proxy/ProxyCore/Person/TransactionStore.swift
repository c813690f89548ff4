public import Authorization
public import Interception

/// Step-ups that wait for a person. Each loop has a store in front of the shared ledger; it is used only if a person must answer.
public protocol TransactionStore: AnyObject {
    /// - Parameter notify: the command that notifies a person.
    func park(_ transaction: OpenTransaction, notify: [String]) -> Parking
    /// The person's verdict; nil if there is none yet.
    func look(_ id: TransactionID) -> PersonVerdict?
    /// Removes a step-up that is over or no longer waits.
    func leave(_ id: TransactionID, _ ticket: WaitingTicket)
}

public enum Parking: Sendable {
    case parked(TransactionID, WaitingTicket)
    /// The limit of waiting step-ups is reached, in words.
    case full(String)
}

public enum PersonVerdict: Sendable {
    case answered(PersonAnswers)
    case denied
    /// The step-up lost its place to another client's.
    case displaced
}

/// A step-up's place among those that wait. It is given up with the last reference.
final class ParkedStep {
    let id: TransactionID
    let ticket: WaitingTicket
    let since: Int
    private let store: any TransactionStore

    init(_ id: TransactionID, _ ticket: WaitingTicket, _ store: any TransactionStore, since: Int) {
        self.id = id
        self.ticket = ticket
        self.since = since
        self.store = store
    }

    deinit { store.leave(id, ticket) }

    func look() -> PersonVerdict? { store.look(id) }
}
