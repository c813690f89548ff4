public import Journal

/// A rule over several flows. It is a value that remembers what it needs, within a limit.
public protocol FlowRule: Sendable {
    /// Whether this flow may tell the rule anything. It is asked for each flow.
    func isConcerned(with flow: borrowing PackedFlow) -> Bool
    mutating func judge(_ exchange: StoredExchange) -> RuleFinding
    /// What has to come before the rule is met; nil if nothing.
    var missing: RuleMiss? { get }
}

public enum RuleFinding: Sendable {
    /// The rule has nothing to say about the flow.
    case other
    case fits
    case breaks(String)
}

/// What a rule still waits for, and the flow that made it wait.
public struct RuleMiss: Sendable {
    let flow: PackedFlow
    let because: String
}

extension FlowRule {
    public func isConcerned(with flow: borrowing PackedFlow) -> Bool { !flow.isEmpty(.action) }
    public var missing: RuleMiss? { nil }
}

/// What was seen lately, within a limit. The oldest is forgotten first.
struct Recollection<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var values: [Key: Value] = [:]
    private var order: [Key] = []
    /// The place of the oldest in `order`.
    private var first = 0

    private let most: Int

    init(most: Int = 1024) { self.most = most }

    var isEmpty: Bool { values.isEmpty }
    /// Oldest first.
    var all: [Value] { order[first...].compactMap { values[$0] } }

    subscript(_ key: Key) -> Value? {
        get { values[key] }
        set {
            guard let newValue else {
                values[key] = nil
                return
            }
            if values.updateValue(newValue, forKey: key) == nil { order.append(key) }
            while order.count - first > most { forget() }
        }
    }

    private mutating func forget() {
        values[order[first]] = nil
        first += 1
        guard first > most else { return }
        order.removeFirst(first)
        first = 0
    }
}
