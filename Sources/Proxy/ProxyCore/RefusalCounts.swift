public import Addresses
internal import Passwords

/// The key by which clients are counted: the network, and the user if one is known.
public struct ClientKey: Hashable, Sendable {
    public let network: AddressBlock?
    public let user: String?

    public init(address: IPAddress?, user: String?) {
        network = address?.clientNetwork
        self.user = user
    }
}

/// A server, by the name in its certificate and its port.
public struct ServerPlace: Hashable, Sendable {
    public let name: String
    public let port: UInt16

    public init(_ name: String, port: UInt16) {
        self.name = name
        self.port = port
    }
}

/// A client and a server that it connects to.
private struct ClientPlace: Hashable, Sendable {
    let client: ClientKey
    let place: ServerPlace
}

/// Counts by client which servers' certificates it refuses. After three refusals in a row the server's TLS is not decrypted
/// for that client for an hour.
///
/// An alert is a refusal. A close without one may be a refusal or an unused connection: browsers open
/// several to a new server, and close the others once the first speaks HTTP/2. So a close counts only if the client has no other
/// connection there, begun or open, and had none lately; closes within a second count once.
public struct RefusalCounts: Sendable {
    private struct Entry {
        var count = 0
        /// The refusals that were closes.
        var closes = 0
        var lastClose = 0
        var last = 0
    }

    private struct Client {
        var places: [ServerPlace: Entry] = [:]
        var last = 0
    }

    /// The meaning of a close during the handshake, without an alert.
    public enum Departure: Sendable {
        /// The client has another connection to the server, or has begun one.
        case besideAnother
        /// The reason is unknown.
        case unclear
        /// The client closes repeatedly.
        case refusal
    }

    private var clients: [ClientKey: Client] = [:]
    /// Recent successful handshakes and open connections.
    private var successes: RecentSet<ClientPlace>
    /// Handshakes and open connections. Bounded by the number of connections.
    private var underWay: [ClientPlace: Int] = [:]
    private let capacity: Int
    private let placesPerClient: Int
    private static let enough = 3
    /// The time to remember a refusal, in milliseconds.
    private static let life = 3_600_000
    /// The time within which closes count once, in milliseconds.
    private static let burst = 1_000

    /// - Parameters:
    ///   - clients: the most clients to remember; the one that refused longest ago is forgotten first.
    ///   - places: the most servers for each client, likewise: a client can displace only its own entries.
    ///   - successes: the fewest successes to remember.
    public init(clients: Int = 1024, places: Int = 64, successes: Int = 4096) {
        capacity = max(1, clients)
        placesPerClient = max(1, places)
        self.successes = RecentSet(life: 60_000, capacity: 2 * successes)
    }

    /// The number of remembered servers of all clients.
    public var count: Int { clients.values.reduce(0) { $0 + $1.places.count } }

    public mutating func began(_ place: ServerPlace, by client: ClientKey) {
        underWay[ClientPlace(client: client, place: place), default: 0] += 1
    }

    /// - Parameter isDone: there was a connection until `now`, in milliseconds of one monotonic clock.
    public mutating func ended(_ place: ServerPlace, by client: ClientKey, isDone: Bool, now: Int) {
        let key = ClientPlace(client: client, place: place)
        if isDone { successes.remember(key, now: now) }
        guard let count = underWay[key] else { return }
        underWay[key] = count > 1 ? count - 1 : nil
    }

    /// The client refused the certificate with an alert.
    /// - Parameter now: milliseconds of one monotonic clock.
    public mutating func refused(_ place: ServerPlace, by client: ClientKey, now: Int) {
        change(place, of: client, now) { $0.count += 1 }
    }

    /// The client closed without an alert during the handshake.
    public mutating func left(_ place: ServerPlace, by client: ClientKey, now: Int) -> Departure {
        let key = ClientPlace(client: client, place: place)
        if underWay[key, default: 0] > 1 || successes.holds(key, now: now) { return .besideAnother }
        return change(place, of: client, now) { entry in
            if entry.closes == 0 || now - entry.lastClose >= Self.burst {
                entry.count += 1
                entry.closes += 1
                entry.lastClose = now
            }
            return entry.closes > 1 ? .refusal : .unclear
        }
    }

    public mutating func accepted(_ place: ServerPlace, by client: ClientKey, now: Int) {
        successes.remember(ClientPlace(client: client, place: place), now: now)
        guard clients[client]?.places.removeValue(forKey: place) != nil else { return }
        if clients[client]?.places.isEmpty == true { clients[client] = nil }
    }

    public func isLeftAlone(_ place: ServerPlace, for client: ClientKey, now: Int) -> Bool {
        guard let entry = clients[client]?.places[place] else { return false }
        return entry.count >= Self.enough && Self.lives(entry, now)
    }

    private mutating func change<Result>(
        _ place: ServerPlace, of client: ClientKey, _ now: Int, _ body: (inout Entry) -> Result
    ) -> Result {
        if clients[client] == nil, clients.count >= capacity,
            let oldest = clients.min(by: { $0.value.last < $1.value.last })
        {
            clients[oldest.key] = nil
        }
        var places = clients[client]?.places ?? [:]
        if places[place] == nil, places.count >= placesPerClient,
            let oldest = places.min(by: { $0.value.last < $1.value.last })
        {
            places[oldest.key] = nil
        }
        var entry = places[place].flatMap { Self.lives($0, now) ? $0 : nil } ?? Entry()
        let result = body(&entry)
        entry.last = now
        places[place] = entry
        clients[client] = Client(places: places, last: now)
        return result
    }

    private static func lives(_ entry: Entry, _ now: Int) -> Bool { now - entry.last < life }
}
