import Configuration
import EventLoop
import Glibc
import ProxyDriver

/// The sockets that the proxy listens on, dealt out to its workers.
struct OpenListeners {
    /// For each worker, its descriptors.
    private(set) var perWorker: [[WorkerListener]]
    private(set) var addresses: [ListeningAddress] = []
    /// Where they come from, for a person.
    private(set) var origin = ""
    /// They are served whatever the configuration says.
    private(set) var areGiven = false

    /// Opens what the configuration names and nobody hands over.
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
            // shared sockets would quietly join those of another process: an unshared one asks first
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
                ? "another program has that port: stop it, or choose another with --listen or listen:" : "see listen:"
            throw Supervisor.StartFault(description: "cannot listen on \(address): \(error.reason) (\(remedy))")
        }
    }

    /// Sockets of a process that ran before, for one address of the configuration: those with its port, or, where that may be
    /// any, those of the next one.
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

    /// Deals sockets out that listen already. Every one of them has somebody waiting at it: each is served, and each worker
    /// serves one of each address.
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
