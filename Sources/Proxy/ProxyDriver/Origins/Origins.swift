import Addresses
import EventLoop
import Metrics
import ProxyCore

/// One loop's access to origins: the pool, name resolution, and loop detection.
struct Origins {
    let pool: OriginPool
    let names: NameResolver
    let own: OwnListeners

    /// - Parameter addresses: all addresses that this process listens on.
    init(
        loop: Loop, _ settings: WorkerSettings, at addresses: [SocketAddress], warn: @escaping (String) -> Void
    ) throws(SystemError) {
        names = try NameResolver(loop: loop, settings.names, remarked: warn)
        own = OwnListeners(addresses)
        pool = OriginPool(perOrigin: settings.engine.settings.limits.idlePerOrigin, total: settings.idleTotal)
    }

    func adopt(_ settings: WorkerSettings) {
        pool.perOrigin = settings.engine.settings.limits.idlePerOrigin
        names.adopt(settings.names)
        pool.forgetAll()
    }

    /// The idle connections, including bound ones.
    var idle: Int { pool.count + pool.bound }

    func sweep(_ now: Int, _ timeouts: Timeouts, _ metrics: LoopMetrics) {
        pool.expire(before: now - timeouts.poolIdle)
        pool.look(timeouts, metrics)
    }

    /// Whether an established connection leads back to this proxy.
    func isOwn(_ channel: OriginChannel, _ address: IPAddress, port: UInt16) -> Bool {
        own.all.contains(address, port: port, from: channel.localAddress.flatMap { IPAddress(bytes: $0.address) })
    }

    /// Whether a connection to this address would lead back to this proxy.
    func isOwn(_ address: IPAddress, port: UInt16) -> Bool { own.all.contains(address, port: port) }
}

/// The addresses that this process listens on, as one loop knows them.
final class OwnListeners {
    private(set) var all: OwnAddresses
    private var addresses: [SocketAddress]

    init(_ addresses: [SocketAddress]) {
        self.addresses = addresses
        all = Self.own(addresses)
    }

    func add(_ address: SocketAddress) {
        addresses.append(address)
        all = Self.own(addresses)
    }

    private static func own(_ addresses: [SocketAddress]) -> OwnAddresses {
        OwnAddresses(addresses.compactMap { address in IPAddress(bytes: address.address).map { ($0, address.port) } })
    }
}
