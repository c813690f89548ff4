/// The bytes that each side of an exchange may still send to the other unread.
struct Relays {
    private(set) var exchange: ExchangeID?
    private var client: UInt64 = 0
    private var origin: UInt64 = 0

    /// How many bytes from that side are still relayed.
    /// - Parameter id: the exchange that the bytes belong to; nil for the client's current one.
    func rest(_ side: ConnectionSide, _ id: ExchangeID?) -> UInt64 {
        if let id, id != exchange { return 0 }
        return side == .client ? client : origin
    }

    mutating func begin(_ side: ConnectionSide, _ count: UInt64, of id: ExchangeID) {
        exchange = id
        if side == .client { client = count } else { origin = count }
    }

    mutating func pass(_ side: ConnectionSide, _ count: UInt64) {
        let rest = rest(side, nil)
        guard rest != .max else { return }
        if side == .client { client -= min(rest, count) } else { origin -= min(rest, count) }
    }

    mutating func stop() { self = Relays() }
}
