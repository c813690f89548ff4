public import Addresses
import HTTPCodec

/// Who is one client, where clients are counted: a network that is one's own, and the user where one is known.
public struct ClientKey: Hashable, Sendable {
    public let network: AddressBlock?
    public let user: String?

    public init(address: IPAddress?, user: String?) {
        network = address?.clientNetwork
        self.user = user
    }
}

/// Hosts whose certificate a client refuses, for each client by itself: after three times in a row it finds the host's TLS left
/// alone, for an hour.
public struct RefusalCounts: Sendable {
    private struct Entry {
        var count: Int
        var last: Int
    }

    private struct Client {
        var hosts: [String: Entry] = [:]
        var last = 0
    }

    private var clients: [ClientKey: Client] = [:]
    private let capacity: Int
    private let hostsPerClient: Int
    private static let enough = 3
    /// Milliseconds.
    private static let life = 3_600_000

    /// - Parameters:
    ///   - clients: that are remembered; beyond it the one that refused longest ago is forgotten.
    ///   - hosts: of one client, likewise: a client can push out its own entries alone.
    public init(clients: Int = 1024, hosts: Int = 64) {
        capacity = max(1, clients)
        hostsPerClient = max(1, hosts)
    }

    /// Hosts in all.
    public var count: Int { clients.values.reduce(0) { $0 + $1.hosts.count } }

    /// - Parameter now: milliseconds of one monotonic clock.
    public mutating func refused(_ host: String, by client: ClientKey, now: Int) {
        if clients[client] == nil, clients.count >= capacity,
            let oldest = clients.min(by: { $0.value.last < $1.value.last })
        {
            clients[oldest.key] = nil
        }
        var hosts = clients[client]?.hosts ?? [:]
        if hosts[host] == nil, hosts.count >= hostsPerClient,
            let oldest = hosts.min(by: { $0.value.last < $1.value.last })
        {
            hosts[oldest.key] = nil
        }
        let before = hosts[host].flatMap { Self.lives($0, now) ? $0.count : nil } ?? 0
        hosts[host] = Entry(count: before + 1, last: now)
        clients[client] = Client(hosts: hosts, last: now)
    }

    public mutating func accepted(_ host: String, by client: ClientKey) {
        guard clients[client]?.hosts.removeValue(forKey: host) != nil else { return }
        if clients[client]?.hosts.isEmpty == true { clients[client] = nil }
    }

    public func isLeftAlone(_ host: String, for client: ClientKey, now: Int) -> Bool {
        guard let entry = clients[client]?.hosts[host] else { return false }
        return entry.count >= Self.enough && Self.lives(entry, now)
    }

    private static func lives(_ entry: Entry, _ now: Int) -> Bool { now - entry.last < life }
}
