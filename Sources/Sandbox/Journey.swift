/// What the start of a journey said. It holds until the end: a continuation takes it from here, not from its URL.
struct JourneyStart: Sendable {
    let id: String
    let realm: String
    /// `authIndexType` and `authIndexValue`.
    let indexType: String
    let indexValue: String
    /// The session that the start carried: an upgrade replaces it, a transaction belongs to it.
    let session: Session?
    let createsSession: Bool
    /// AM as the one who started it named it.
    let amURL: String
    /// What AM does wrong on the way.
    let faults: Faults
}

/// One run through a tree, from its start to its last answer.
struct Journey: Sendable {
    let start: JourneyStart
    let tree: Tree
    /// What it approves; nil where it is a login.
    let transaction: String?
    /// Which of the tree's nodes is asked for.
    private var place = 0
    /// The questions of the newest step.
    var asked: [Question] = []
    /// The one-time key of the newest step: older ones are refused.
    var key = ""
    var name: String?
    var password: String?
    /// What nodes remember of this journey.
    var state: [String: String] = [:]
    /// Wrong answers so far.
    private var failures = 0

    init(_ start: JourneyStart, _ tree: Tree, transaction: String? = nil) {
        (self.start, self.tree, self.transaction) = (start, tree, transaction)
    }

    var id: String { start.id }
    var realm: String { start.realm }

    /// Whose answers these are said to be: who was named, else whose session it is.
    var claimed: String? { name ?? start.session?.user }

    /// Whose devices it is about.
    var owner: String? { claimed.map { "\(realm) \($0)" } }

    var node: any TreeNode { tree.nodes[place] }

    /// On to the next node. False where there is none.
    mutating func advance() -> Bool {
        guard place + 1 < tree.nodes.count else { return false }
        place += 1
        return true
    }

    /// The beginning once more. False where the tree does not ask again.
    mutating func restart() -> Bool {
        guard failures < tree.retries else { return false }
        failures += 1
        place = 0
        name = nil
        password = nil
        state = [:]
        return true
    }
}
