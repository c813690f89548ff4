internal import Addresses
internal import EventLoop
internal import Metrics
internal import ProxyCore

/// Lets clients in: where one loop listens, from which addresses, and as many connections as there may be.
final class Admission {
    private let loop: Loop
    private let clients: ClientTable
    private let metrics: LoopMetrics
    private let report: LoopReport
    private var listeners: [ProxyListener] = []
    /// When the next failure to accept is worth a word.
    private var nextAcceptWarning = 0
    private var nextShareWarning = 0

    /// Between two words about failures to accept, in milliseconds.
    private static let warningInterval = 10_000

    init(loop: Loop, _ clients: ClientTable, _ metrics: LoopMetrics, _ report: LoopReport) {
        self.loop = loop
        self.clients = clients
        self.metrics = metrics
        self.report = report
    }

    // MARK: listeners

    func listen(on sockets: [WorkerListener], for worker: Worker) throws(SystemError) {
        for one in sockets {
            let socket = try ListeningSocket(adopting: one.descriptor)
            listeners.append(try ProxyListener(worker: worker, socket: socket, isSecure: one.isSecure))
        }
    }

    func resume() { for listener in listeners { listener.resume() } }
    func close() { for listener in listeners { listener.close() } }

    /// Nobody is let in any more.
    func end() {
        close()
        listeners = []
    }

    // MARK: clients

    /// A place for a client's connection; nil for an address that may not come.
    /// - Parameter isBalancer: behind one the client is whom its header names.
    func share(
        for address: IPAddress, isBalancer: Bool, _ policy: ClientPolicy, _ limits: Limits
    ) throws(ClientShares.Refusal) -> ConnectionShare? {
        guard isBalancer || policy.admits(address) else {
            metrics.count(.refusedAddress)
            return nil
        }
        do throws(ClientShares.Refusal) {
            return try ConnectionShare(clients, for: isBalancer ? nil : .network(address.clientNetwork), limits)
        } catch {
            metrics.count(error == .all ? .refusedAll : .refusedShare)
            warn(of: error, address)
            throw error
        }
    }

    private func warn(of refusal: ClientShares.Refusal, _ client: IPAddress) {
        let now = loop.refreshNow()
        guard now >= nextShareWarning else { return }
        nextShareWarning = now + Self.warningInterval
        switch refusal {
        case .all: report.warn("clients are refused: there are as many connections as limits.connections allows")
        case .client: report.warn("\(client) is refused: it holds as many connections as limits.per_client allows")
        }
    }

    func warn(of error: SystemError) {
        let now = loop.refreshNow()
        guard now >= nextAcceptWarning else { return }
        nextAcceptWarning = now + Self.warningInterval
        report.warn("a connection could not be accepted: \(error.reason)")
    }
}

final class ProxyListener: Listener {
    private unowned let worker: Worker

    private let isSecure: Bool

    init(worker: Worker, socket: consuming ListeningSocket, isSecure: Bool) throws(SystemError) {
        self.worker = worker
        self.isSecure = isSecure
        try super.init(loop: worker.loop, listening: socket.take())
    }

    override func accepted(_ descriptor: consuming Descriptor, from peer: SocketAddress) {
        worker.accept(descriptor, from: peer, isSecure: isSecure)
    }

    override func acceptFailed(_ error: SystemError) { worker.acceptFailed(error) }
}
