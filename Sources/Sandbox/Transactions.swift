/// One approval for one access. Bound at its creation to realm, resource, session and, where a gateway asked, method;
/// every later step checks all of them.
struct Transaction: Sendable {
    enum State: Sendable {
        case created, inProgress, completed
        /// Used or refused: kept until its end so that it can be told from an id that never was.
        case spent
    }

    var id: String
    var realm: String
    var resource: String
    /// Nil where the asker named no method: the answer holds for each.
    var method: String?
    /// The session's tracking id.
    var subject: String
    var state = State.created
    /// How many accesses it has granted: never more than one.
    var uses = 0
}

struct TransactionTable: Sendable {
    private var transactions: ExpiringTable<Transaction>

    /// - Parameter lifetime: seconds from creation to use.
    init(lifetime: Int) {
        transactions = ExpiringTable(lifetime: lifetime)
    }

    mutating func create(
        realm: String, resource: String, method: String?, subject: String, from tokens: inout TokenSource, now: Int
    ) -> Transaction {
        let transaction = Transaction(
            id: tokens.uuid(), realm: realm, resource: resource, method: method, subject: subject)
        transactions.insert(transaction, id: transaction.id, now: now)
        return transaction
    }

    /// CREATED → IN_PROGRESS. False for any id that this subject cannot start now.
    mutating func begin(_ id: String, realm: String, subject: String, now: Int) -> Bool {
        move(id, from: .created, to: .inProgress, realm: realm, subject: subject, now: now)
    }

    /// IN_PROGRESS → COMPLETED.
    mutating func complete(_ id: String, realm: String, subject: String, now: Int) -> Bool {
        move(id, from: .inProgress, to: .completed, realm: realm, subject: subject, now: now)
    }

    mutating func refuse(_ id: String, realm: String, subject: String, now: Int) -> Bool {
        move(id, from: .inProgress, to: .spent, realm: realm, subject: subject, now: now)
    }

    func isInProgress(_ id: String, realm: String, subject: String, now: Int) -> Bool {
        guard let found = transactions.value(id, now: now) else { return false }
        return found.state == .inProgress && found.realm == realm && found.subject == subject
    }

    /// Takes the one access that a completed transaction grants. An id presented for another resource stays good for
    /// its own.
    mutating func use(
        _ id: String, realm: String, resource: String, method: String?, subject: String, now: Int
    ) -> Transaction? {
        guard var found = transactions.value(id, now: now), found.state == .completed, found.realm == realm,
            found.subject == subject, found.resource == resource, found.method == nil || found.method == method
        else { return nil }
        found.state = .spent
        found.uses += 1
        transactions.replace(id, found)
        return found
    }

    private mutating func move(
        _ id: String, from old: Transaction.State, to new: Transaction.State, realm: String, subject: String, now: Int
    ) -> Bool {
        guard var found = transactions.value(id, now: now), found.state == old, found.realm == realm,
            found.subject == subject
        else { return false }
        found.state = new
        transactions.replace(id, found)
        return true
    }
}
