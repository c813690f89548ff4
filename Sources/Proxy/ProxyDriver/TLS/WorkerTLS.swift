import EventLoop
import Glibc
import Metrics
import ProxyCore
import TLSEngine

/// The TLS state of one loop: server contexts, tickets, and origins' sessions.
final class WorkerTLS {
    let bufferPool = TLSBufferPool()
    /// Counts the configurations.
    private(set) var generation = 0
    private let loop: Loop
    private let metrics: LoopMetrics
    private var material: TLSMaterial
    private let tickets: TicketKeys
    /// Created with the first client, because most configurations need none.
    private var clients: ServerContext?
    private var listener: ServerContext?
    private var sessions = TLSSessionCache()

    init(_ material: TLSMaterial, on loop: Loop, _ metrics: LoopMetrics = LoopMetrics()) {
        self.material = material
        self.metrics = metrics
        self.loop = loop
        tickets = TicketKeys(seed: material.ticketSeed, now: time(nil))
    }

    func adopt(_ material: TLSMaterial) {
        self.material = material
        generation += 1
        clients = nil
        listener = nil
        sessions.removeAll()
    }

    func sweep() { tickets.advance(now: time(nil)) }

    // MARK: clients

    /// The stream for a client that asked for this host.
    /// - Parameter protocols: the protocols to offer.
    func stream(showing name: String, speaking protocols: [ApplicationProtocol]) throws(TLSFault) -> TLSStream {
        try injectFault()
        guard let leaves = material.leaves else { throw TLSFault(.local, "there is no authority to make certificates") }
        let leaf = try leaves.leaf(for: name) { metrics.count(.leavesMinted) }
        if let clients { return try clients.stream(showing: leaf, speaking: protocols) }
        let made = try context(leaves.key, leaves.authority.chain)
        clients = made
        return try made.stream(showing: leaf, speaking: protocols)
    }

    /// The stream for a client of a TLS listener.
    /// - Parameters:
    /// - name: the name that the client asked for.
    /// - address: the listener's address.
    func stream(
        listeningAs name: String?, at address: String, speaking protocols: [ApplicationProtocol]
    ) throws(TLSFault) -> TLSStream {
        guard let identity = material.listener else {
            return try stream(
                showing: name.flatMap { material.listenerNames.contains($0) ? $0 : nil } ?? address,
                speaking: protocols)
        }
        try injectFault()
        if let listener { return try listener.stream(showing: identity.certificate, speaking: protocols) }
        let made = try context(identity.key, identity.chain)
        listener = made
        return try made.stream(showing: identity.certificate, speaking: protocols)
    }

    private func context(_ key: PrivateKey, _ chain: [Certificate]) throws(TLSFault) -> ServerContext {
        do {
            return try ServerContext(key: key, chain: chain, tickets: tickets, keyLog: material.keyLog)
        } catch {
            throw TLSFault(.local, "the certificate \(error.words)")
        }
    }

    // MARK: origins

    func stream(to origin: Origin, speaking protocols: [ApplicationProtocol]) throws(TLSFault) -> TLSStream {
        try injectFault()
        return try material.origins.stream(
            to: origin.serverName ?? origin.host, material.security.demands(of: origin),
            session: sessions.take(origin.poolKey), speaking: protocols)
    }

    func keep(_ session: TLSSession, for origin: Origin) { sessions.put(session, for: origin) }

    /// Simulates a lack of memory if a fault plan says so.
    private func injectFault() throws(TLSFault) {
        #if DEBUG
            if loop.injectsFault(.tlsBegin) { throw TLSFault(.local, "there is no memory for a TLS connection") }
        #endif
    }
}
