public import Authorization

/// Step-ups that wait for a person. One for each loop, in front of what all of them share; asked only where an answer has to
/// come from somebody.
public protocol TransactionStore: AnyObject {
    /// - Parameter notify: a command that tells somebody of it.
    func park(_ transaction: OpenTransaction, notify: [String]) -> Parking
    /// What was said to it; nil where nobody has spoken yet.
    func look(_ id: TransactionID) -> PersonVerdict?
    /// It is over, or does not wait any more.
    func leave(_ id: TransactionID)
}

public enum Parking: Sendable {
    case parked(TransactionID)
    /// As many wait as may; in words.
    case full(String)
}

public enum PersonVerdict: Sendable {
    case answered(PersonAnswers)
    case denied
    /// It gave its place to another client's.
    case displaced
}

/// A step-up's place among those that wait. It is given up with the last reference, however that goes.
final class ParkedStep {
    let id: TransactionID
    let since: Int
    private let store: any TransactionStore

    init(_ id: TransactionID, _ store: any TransactionStore, since: Int) {
        self.id = id
        self.since = since
        self.store = store
    }

    deinit { store.leave(id) }

    func look() -> PersonVerdict? { store.look(id) }
}
