/// An approval for one access. It is bound to realm, resource, session and, for a gateway, method. Each later step checks all of
/// them.
struct Transaction: Sendable {
    enum State: Sendable {
        case created, inProgress, completed
        /// Used or refused. It is kept until it expires, to tell it from an unknown id.
        case spent
    }

    /// The reason why a presented transaction grants nothing.
    enum Misuse: String, Sendable, CaseIterable {
        /// Unknown or expired.
        case unknown
        /// Of another session or realm.
        case foreign
        /// Of another resource or method.
        case elsewhere
        /// Used or refused before.
        case again
        /// Not approved yet.
        case unapproved
    }

    var id: String
    var realm: String
    var resource: String
    /// Nil if the question named no method; it then covers all.
    var method: String?
    /// The session's tracking id.
    var subject: String
    /// The questions of its approval.
    var strategy: SandboxOptions.Strategy
    var state = State.created
    /// The count of granted accesses, at most one.
    var uses = 0

    /// The first eight characters of an id: enough to follow it in a log, too few to use it.
    static func short(_ id: String) -> String { String(id.prefix(8)) + "…" }
}

struct TransactionTable: Sendable {
    private var transactions: ExpiringTable<Transaction>

    private let usual: SandboxOptions.Strategy

    /// - Parameters:
    /// - lifetime: seconds from creation to use.
    /// - usual: the default strategy.
    init(lifetime: Int, usual: SandboxOptions.Strategy) {
        transactions = ExpiringTable(lifetime: lifetime)
        self.usual = usual
    }

    mutating func create(
        realm: String, resource: String, method: String?, subject: String, strategy: SandboxOptions.Strategy?,
        from tokens: inout TokenSource, now: Int
    ) -> Transaction {
        let transaction = Transaction(
            id: tokens.uuid(), realm: realm, resource: resource, method: method, subject: subject,
            strategy: strategy ?? usual)
        tally.created += 1
        transactions.insert(transaction, id: transaction.id, now: now)
        return transaction
    }

    /// Applies faults to a new transaction.
    mutating func spoil(_ id: String, _ faults: Faults) {
        guard var found = transactions.value(id, now: 0) else { return }
        if faults.has(.expired) { transactions.remove(id) }
        if faults.has(.used) { found.state = .spent }
        if faults.has(.foreign) { found.subject = "somebody else" }
        transactions.replace(id, found)
    }

    /// CREATED → IN_PROGRESS. Nil if this subject cannot start the id now.
    mutating func begin(_ id: String, realm: String, subject: String, now: Int) -> Transaction? {
        let begun = move(id, from: .created, to: .inProgress, realm: realm, subject: subject, now: now)
        if begun != nil { tally.begun += 1 }
        return begun
    }

    /// IN_PROGRESS → COMPLETED.
    mutating func complete(_ id: String, realm: String, subject: String, now: Int) -> Bool {
        let done = move(id, from: .inProgress, to: .completed, realm: realm, subject: subject, now: now)
        if done != nil { tally.approved += 1 }
        return done != nil
    }

    mutating func refuse(_ id: String, realm: String, subject: String, now: Int) {
        guard move(id, from: .inProgress, to: .spent, realm: realm, subject: subject, now: now) != nil else { return }
        tally.refused += 1
    }

    func isInProgress(_ id: String, realm: String, subject: String, now: Int) -> Bool {
        guard let found = transactions.value(id, now: now) else { return false }
        return found.state == .inProgress && found.realm == realm && found.subject == subject
    }

    /// Uses the one access of a completed transaction. If it is presented for another resource, it stays valid.
    mutating func use(
        _ id: String, realm: String, resource: String, method: String?, subject: String, now: Int
    ) -> Transaction? {
        guard var found = transactions.value(id, now: now) else {
            tally.misused(.unknown)
            return nil
        }
        guard found.realm == realm, found.subject == subject else {
            tally.misused(.foreign)
            return nil
        }
        guard found.resource == resource, found.method == nil || found.method == method else {
            tally.misused(.elsewhere)
            return nil
        }
        guard found.state == .completed else {
            tally.misused(found.state == .spent ? .again : .unapproved)
            return nil
        }
        found.state = .spent
        found.uses += 1
        tally.used += 1
        transactions.replace(id, found)
        return found
    }

    private mutating func move(
        _ id: String, from old: Transaction.State, to new: Transaction.State, realm: String, subject: String, now: Int
    ) -> Transaction? {
        guard var found = transactions.value(id, now: now) else { return nil }
        guard found.realm == realm, found.subject == subject else {
            tally.misused(.foreign)
            return nil
        }
        guard found.state == old else { return nil }
        found.state = new
        transactions.replace(id, found)
        return found
    }

    /// Counters since the start.
    struct Tally: Sendable {
        var created = 0
        var begun = 0
        var approved = 0
        var refused = 0
        var used = 0
        private(set) var misuses: [Transaction.Misuse: Int] = [:]

        mutating func misused(_ how: Transaction.Misuse) { misuses[how, default: 0] += 1 }
    }

    private(set) var tally = Tally()
}
