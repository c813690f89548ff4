/// The bytes that each side may still send to the other unread.
struct Relays {
    private var client: UInt64 = 0
    private var origin: UInt64 = 0

    subscript(leg: Leg) -> UInt64 {
        get { leg == .client ? client : origin }
        set { if leg == .client { client = newValue } else { origin = newValue } }
    }

    /// How many of `count` bytes from that side are relayed.
    func share(_ leg: Leg, of count: Int) -> Int { Int(min(self[leg], UInt64(count))) }

    mutating func pass(_ leg: Leg, _ count: UInt64) {
        if self[leg] != .max { self[leg] -= min(self[leg], count) }
    }

    mutating func stop() { self = Relays() }
}
