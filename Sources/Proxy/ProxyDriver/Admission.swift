internal import Addresses
internal import EventLoop
internal import Metrics
internal import ProxyCore

/// Admits clients on one loop: listeners, allowed addresses, and connection limits.
final class Admission {
    private let loop: Loop
    private let clients: ClientTable
    private let metrics: LoopMetrics
    private let report: LoopReport
    private var listeners: [ProxyListener] = []
    /// The time of the next warning about failures to accept.
    private var nextAcceptWarning = 0
    private var nextShareWarning = 0

    /// The interval between such warnings in milliseconds.
    private static let warningInterval = 10_000

    init(loop: Loop, _ clients: ClientTable, _ metrics: LoopMetrics, _ report: LoopReport) {
        self.loop = loop
        self.clients = clients
        self.metrics = metrics
        self.report = report
    }

    // MARK: listeners

    /// - Parameter testSession: the test session of all clients; nil for none.
    func listen(
        on sockets: [WorkerListener], for worker: Worker, testSession: String? = nil
    ) throws(SystemError) {
        for one in sockets {
            let socket = try ListeningSocket(adopting: one.descriptor)
            listeners.append(
                try ProxyListener(worker: worker, socket: socket, isSecure: one.isSecure, testSession: testSession))
        }
    }

    func close(testSession: String) {
        for listener in listeners where listener.testSession == testSession { listener.close() }
        listeners.removeAll { $0.testSession == testSession }
    }

    func resume() { for listener in listeners { listener.resume() } }
    func close() { for listener in listeners { listener.close() } }

    /// Closes the listeners for good.
    func end() {
        close()
        listeners = []
    }

    // MARK: clients

    /// Reserves a connection for a client; nil if its address is not allowed.
    /// - Parameter isBalancer: true for a load balancer, whose PROXY header names the client.
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
    let testSession: String?

    init(
        worker: Worker, socket: consuming ListeningSocket, isSecure: Bool, testSession: String?
    ) throws(SystemError) {
        self.worker = worker
        self.isSecure = isSecure
        self.testSession = testSession
        try super.init(loop: worker.loop, listening: socket.take())
    }

    override func accepted(_ descriptor: consuming Descriptor, from peer: SocketAddress) {
        worker.accept(descriptor, from: peer, isSecure: isSecure, testSession: testSession)
    }

    override func acceptFailed(_ error: SystemError) { worker.acceptFailed(error) }
}
