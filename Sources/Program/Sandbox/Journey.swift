/// The parameters of a journey's start. Continuations use these and not their own URL.
struct JourneyStart: Sendable {
    let id: String
    let realm: String
    /// `authIndexType` and `authIndexValue`.
    let indexType: String
    let indexValue: String
    /// The session of the start: an upgrade replaces it, a transaction belongs to it.
    let session: Session?
    let createsSession: Bool
    /// AM's URL as the start request named it.
    let amURL: String
    /// The faults of AM in this journey.
    let faults: Faults
}

/// One run through a tree, from its start to its end.
struct Journey: Sendable {
    let start: JourneyStart
    let tree: Tree
    /// The transaction to approve; nil for a login.
    let transaction: String?
    /// The index of the current node.
    private var place = 0
    /// The questions of the last step.
    var asked: [Question] = []
    /// The one-time key of the last step. Older keys are refused.
    var key = ""
    var name: String?
    var password: String?
    /// The nodes' state in this journey.
    var state: [String: String] = [:]
    /// The count of wrong answers.
    private var failures = 0
    /// The node that the answers lead to, if it is not the tree's.
    var successor: Int?

    init(_ start: JourneyStart, _ tree: Tree, transaction: String? = nil) {
        (self.start, self.tree, self.transaction) = (start, tree, transaction)
    }

    var id: String { start.id }
    var realm: String { start.realm }

    /// The claimed user: the name in the answers, else the session's user.
    var claimed: String? { name ?? start.session?.user }

    /// The owner of the devices.
    var owner: String? { claimed.map { "\(realm) \($0)" } }

    var node: any TreeNode { tree.nodes[place] }

    /// Moves to the next node. False at the end.
    mutating func advance() -> Bool {
        let target = successor.take() ?? tree.next[place] ?? place + 1
        guard target < tree.nodes.count else { return false }
        place = target
        return true
    }

    /// Counts an event at the current node, from 1.
    mutating func count(_ event: String) -> Int {
        let key = "\(event) at \(place)"
        let count = 1 + (state[key].flatMap { Int($0) } ?? 0)
        state[key] = String(count)
        return count
    }

    /// Starts again. False if the tree allows no more attempts.
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
