/// Bytes that pass from one side to the other without a look at them: how many are still to come from each.
struct Relays {
    private var client: UInt64 = 0
    private var origin: UInt64 = 0

    subscript(leg: Leg) -> UInt64 {
        get { leg == .client ? client : origin }
        set { if leg == .client { client = newValue } else { origin = newValue } }
    }

    /// How many of so many bytes that came from there pass on.
    func share(_ leg: Leg, of count: Int) -> Int { Int(min(self[leg], UInt64(count))) }

    mutating func pass(_ leg: Leg, _ count: UInt64) {
        if self[leg] != .max { self[leg] -= min(self[leg], count) }
    }

    mutating func stop() { self = Relays() }
}
