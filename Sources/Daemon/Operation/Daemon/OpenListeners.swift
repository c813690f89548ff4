import Configuration
import EventLoop
import Glibc
import ProxyDriver

/// The listening sockets of the proxy, distributed to its workers.
struct OpenListeners {
    /// The descriptors of each worker.
    private(set) var perWorker: [[WorkerListener]]
    private(set) var addresses: [ListeningAddress] = []
    /// The origin of the sockets, for a person.
    private(set) var origin = ""
    /// True if the sockets are served whatever the configuration says.
    private(set) var areGiven = false

    /// Opens the configured addresses for which no socket was passed on.
    init(_ snapshot: Snapshot, forWorkers count: Int, _ handover: Handover?, isDaemon: Bool) throws {
        perWorker = Array(repeating: [], count: count)
        if let handover, handover.servesAll {
            try adopt(handover.sockets)
            areGiven = true
            return
        }
        var left = handover?.sockets ?? []
        let handed = isDaemon && handover == nil ? ServiceManager.takeSockets() : []
        if !handed.isEmpty {
            try adopt(handed)
            origin = ", handed over by the service manager"
            areGiven = true
            return
        }
        for wanted in snapshot.listeners {
            guard let address = SocketAddress(numeric: wanted.host, port: wanted.port) else {
                throw Supervisor.StartFault(description: "cannot listen on \(wanted): not a numeric address")
            }
            let inherited = Self.take(&left, for: address, isSecure: wanted.isSecure)
            if !inherited.isEmpty {
                try adopt(inherited)
                continue
            }
            let bound = try open(address, wanted.isSecure)
            addresses.append(ListeningAddress(address: bound, isSecure: wanted.isSecure))
        }
        for socket in left { close(socket.descriptor) }
    }

    private mutating func open(
        _ address: SocketAddress, _ isSecure: Bool
    ) throws(Supervisor.StartFault) -> SocketAddress {
        do throws(SystemError) {
            // a shared socket would silently join that of another process, so an unshared one tests the address first
            let probe = try ListeningSocket(address)
            let bound = probe.address
            guard perWorker.count > 1 else {
                perWorker[0].append(
                    WorkerListener(descriptor: probe.take().release(), isSecure: isSecure))
                return bound
            }
            _ = consume probe
            for worker in perWorker.indices {
                let socket = try ListeningSocket(
                    SocketAddress(address: address.address, port: bound.port), shared: true)
                perWorker[worker].append(
                    WorkerListener(descriptor: socket.take().release(), isSecure: isSecure))
            }
            return bound
        } catch {
            let remedy =
                error.code == EADDRINUSE
                ? "another program uses that port: stop it, or choose another with --listen or listen:" : "see listen:"
            throw Supervisor.StartFault(description: "cannot listen on \(address): \(error.reason) (\(remedy))")
        }
    }

    /// Takes the sockets of an earlier process for one configured address: those with its port, or for port 0 those of the next
    /// address.
    private static func take(
        _ left: inout [WorkerListener], for wanted: SocketAddress, isSecure: Bool
    ) -> [WorkerListener] {
        func address(_ socket: WorkerListener) -> SocketAddress? {
            SocketAddress(ofSocket: socket.descriptor)
        }
        func fits(_ socket: WorkerListener, _ port: UInt16) -> Bool {
            guard let found = address(socket), socket.isSecure == isSecure else { return false }
            return found.address == wanted.address && found.port == port
        }
        var port = wanted.port
        if port == 0 { port = left.first { fits($0, address($0)?.port ?? 0) }.flatMap(address)?.port ?? 0 }
        guard port != 0 else { return [] }
        let taken = left.filter { fits($0, port) }
        left.removeAll { fits($0, port) }
        return taken
    }

    /// Distributes listening sockets. Clients may be waiting at each of them, so every socket is served, and each worker gets one
    /// of each address.
    private mutating func adopt(_ sockets: [WorkerListener]) throws {
        let count = perWorker.count
        var addresses: [(of: ListeningAddress, sockets: [Int32])] = []
        for socket in sockets {
            let adopted = try ListeningSocket(adopting: socket.descriptor)
            let address = ListeningAddress(address: adopted.address, isSecure: socket.isSecure)
            let number = adopted.take().release()
            if let index = addresses.firstIndex(where: {
                $0.of.address == address.address && $0.of.isSecure == address.isSecure
            }) {
                addresses[index].sockets.append(number)
            } else {
                addresses.append((address, [number]))
            }
        }
        for (address, numbers) in addresses {
            self.addresses.append(address)
            for turn in 0..<max(count, numbers.count) {
                let number =
                    turn < numbers.count ? numbers[turn] : fcntl(numbers[turn % numbers.count], F_DUPFD_CLOEXEC, 3)
                guard number >= 0 else { throw SystemError("fcntl") }
                perWorker[turn % count].append(
                    WorkerListener(descriptor: number, isSecure: address.isSecure))
            }
        }
    }
}
