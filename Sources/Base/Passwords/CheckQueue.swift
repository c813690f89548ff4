public import Addresses

/// A queue of password checks. Users that logged in recently go first and have reserved places. Clients take turns, and
/// none can fill the queue.
public struct CheckQueue<Element: Sendable>: Sendable {
    private struct RoundRobin {
        private var lines: [AddressBlock?: [Element]] = [:]
        /// The clients in the order of their turns.
        private var order: [AddressBlock?] = []
        private(set) var count = 0

        func waiting(of client: AddressBlock?) -> Int { lines[client]?.count ?? 0 }

        mutating func add(_ element: Element, of client: AddressBlock?) {
            if lines[client] == nil { order.append(client) }
            lines[client, default: []].append(element)
            count += 1
        }

        mutating func next() -> Element? {
            guard !order.isEmpty else { return nil }
            let client = order.removeFirst()
            guard let element = lines[client]?.removeFirst() else { return nil }
            count -= 1
            if waiting(of: client) > 0 { order.append(client) } else { lines[client] = nil }
            return element
        }
    }

    private var known = RoundRobin()
    private var others = RoundRobin()
    private let capacity: Int
    /// Places reserved for users that logged in recently.
    private let reserve: Int
    /// The most places of one client.
    private let share: Int

    /// By default as many as can be checked before their requests time out.
    public init(capacity: Int = 256, reserve: Int = 64, share: Int = 64) {
        self.capacity = capacity
        self.reserve = reserve
        self.share = share
    }

    public var count: Int { known.count + others.count }
    public var isEmpty: Bool { count == 0 }

    /// Whether there is a place for one more check of that client.
    public func hasRoom(for client: AddressBlock?, isProven: Bool) -> Bool {
        guard count < capacity, isProven || others.count < capacity - reserve else { return false }
        return (isProven ? known : others).waiting(of: client) < share
    }

    public mutating func add(_ element: Element, of client: AddressBlock?, isProven: Bool) {
        if isProven { known.add(element, of: client) } else { others.add(element, of: client) }
    }

    public mutating func next() -> Element? { known.next() ?? others.next() }
}
