public import HTTPCodec

/// What waits for its password to be checked. Users that have proved themselves lately go first and have a reserve; no
/// client fills it.
public struct CheckQueue<Element: Sendable>: Sendable {
    private struct Entry {
        let element: Element
        let client: AddressBlock?
    }

    private var known: [Entry] = []
    private var others: [Entry] = []
    private let capacity: Int
    /// Places for those who have proved themselves.
    private let reserve: Int
    /// Places of one client.
    private let share: Int

    public init(capacity: Int = 256, reserve: Int = 64, share: Int = 32) {
        self.capacity = capacity
        self.reserve = reserve
        self.share = share
    }

    public var count: Int { known.count + others.count }
    public var isEmpty: Bool { known.isEmpty && others.isEmpty }

    /// Whether there is a place for one more of that client.
    public func hasRoom(for client: AddressBlock?, isProven: Bool) -> Bool {
        guard count < capacity, isProven || others.count < capacity - reserve else { return false }
        return (isProven ? known : others).reduce(0) { $0 + ($1.client == client ? 1 : 0) } < share
    }

    public mutating func add(_ element: Element, of client: AddressBlock?, isProven: Bool) {
        let entry = Entry(element: element, client: client)
        if isProven { known.append(entry) } else { others.append(entry) }
    }

    public mutating func next() -> Element? {
        if !known.isEmpty { return known.removeFirst().element }
        return others.isEmpty ? nil : others.removeFirst().element
    }
}
