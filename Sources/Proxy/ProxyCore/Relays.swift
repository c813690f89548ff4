/// The bytes that each side of an exchange may still send to the other unread.
public struct Relays {
    /// The exchange whose bytes are relayed unread.
    public private(set) var exchange: ExchangeID?
    private var client: UInt64 = 0
    private var origin: UInt64 = 0

    /// How many bytes from that side are still relayed.
    /// - Parameter id: the exchange that the bytes belong to; nil for the client's current one.
    func rest(_ side: ConnectionSide, _ id: ExchangeID?) -> UInt64 {
        if let id, id != exchange { return 0 }
        return side == .client ? client : origin
    }

    /// Whether bytes from that side are relayed unread.
    /// - Parameter id: the exchange of the origin that sends them.
    public func areOpen(from side: ConnectionSide, of id: ExchangeID? = nil) -> Bool { rest(side, id) > 0 }

    /// How many of `count` bytes from that side to relay unread. Once they are sent, call `relayed…`.
    public func share(of count: Int, from side: ConnectionSide, of id: ExchangeID? = nil) -> Int {
        Int(min(rest(side, id), UInt64(count)))
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
