/// One approval for one access. Bound at its creation to realm, resource, session and, where a gateway asked, method;
/// every later step checks all of them.
struct Transaction: Sendable {
    enum State: Sendable {
        case created, inProgress, completed
        /// Used or refused: kept until its end so that it can be told from an id that never was.
        case spent
    }

    /// Why one that was presented grants nothing.
    enum Misuse: String, Sendable, CaseIterable {
        /// Made up, or over.
        case unknown
        /// Of another session or realm: somebody mixed them up.
        case foreign
        /// Of another resource or method.
        case elsewhere
        /// Used already, or refused.
        case again
        /// Not approved yet.
        case unapproved
    }

    var id: String
    var realm: String
    var resource: String
    /// Nil where the asker named no method: the answer holds for each.
    var method: String?
    /// The session's tracking id.
    var subject: String
    /// What its approval asks.
    var strategy: SandboxOptions.Strategy
    var state = State.created
    /// How many accesses it has granted: never more than one.
    var uses = 0

    /// The first eight characters of an id: enough to follow a story, too few to use.
    static func short(_ id: String) -> String { String(id.prefix(8)) + "…" }
}

struct TransactionTable: Sendable {
    private var transactions: ExpiringTable<Transaction>

    private let usual: SandboxOptions.Strategy

    /// - Parameters:
    ///   - lifetime: seconds from creation to use.
    ///   - usual: what an approval asks where nothing else is said.
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

    /// Makes one that was just created good for nothing.
    mutating func spoil(_ id: String, _ faults: Faults) {
        guard var found = transactions.value(id, now: 0) else { return }
        if faults.has(.expired) { transactions.remove(id) }
        if faults.has(.used) { found.state = .spent }
        if faults.has(.foreign) { found.subject = "somebody else" }
        transactions.replace(id, found)
    }

    /// CREATED → IN_PROGRESS. Nil for any id that this subject cannot start now.
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

    /// Takes the one access that a completed transaction grants. An id presented for another resource stays good for
    /// its own.
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

    /// How many there were of each, since the beginning.
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
