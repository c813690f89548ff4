import TLSEngine
import Testing

@testable import ProxyCore

/// What happens to the connection: of its client, of origins, of time.
extension DriverModel {
    func tell(time: Int) { out.tell(time: time) }

    func came(_ words: String) { trace?.came(words, from: side, at: now) }

    /// The machine is told of something.
    func happens(_ words: String? = nil, _ tell: (inout ClientConnection, inout CommandBuffer) -> Void) {
        if let words { came(words) }
        tell(&machine, &out)
        settle()
    }

    func adopt(_ settings: Settings, clients: ClientPolicy = ClientPolicy()) { adopt(Engine(settings), clients) }

    func adopt(_ engine: Engine, _ clients: ClientPolicy = ClientPolicy()) {
        if !isOver { happens("adopts settings") { $0.adopt(engine, clients, now: now, &$1) } }
    }

    /// The process takes no more requests.
    func leaves() {
        out.isLeaving = true
        happens("is told that the process leaves") { $0.http.giveUpUnawaited(now: now, &$1) }
    }

    // MARK: the client

    var isPaused: Bool { !clientEnded && !machine.readsClient }
    var readsClient: Bool { !clientEnded && !isOver && machine.readsClient }

    /// Sends in the pieces that the delivery asks for. What comes while the client is not read is kept for later.
    func fromClient(_ bytes: [UInt8]) { for piece in splitter.pieces(bytes) { clientPiece(piece) } }

    func clientPiece(_ bytes: [UInt8]) {
        if isPaused {
            waiting += bytes
            return
        }
        guard !isOver, !bytes.isEmpty else { return }
        trace?.came(bytes, from: side, at: now)
        let start = machine.http.relays.share(of: bytes.count, from: .client)
        if start > 0 {
            origin?.write { $0 += bytes[..<start] }
            machine.relayedFromClient(start, now: now, &out)
        }
        if start < bytes.count { machine.received(Array(bytes[start...]).span, now: now, &out) }
        settle()
    }

    func drainWaiting() {
        guard !isPaused, !waiting.isEmpty, !isOver else { return }
        let bytes = waiting
        waiting = []
        clientPiece(bytes)
    }

    /// The client sends no more.
    func clientEnds() {
        guard !isOver, !clientEnded else { return }
        clientEnded = true
        if breaksHandshake("ends") { return }
        happens("ends") { $0.clientEnded(now: now, &$1) }
    }

    /// Writing to the client failed.
    func clientIsLost() {
        if isOver || breaksHandshake("is lost") { return }
        happens("is lost") { $0.clientLost(now: now, &$1) }
        close(.reset)
    }

    private func breaksHandshake(_ words: String) -> Bool {
        guard securing != nil else { return false }
        came(words)
        clientIsUnsecured(.closedInHandshake, hasSeen: false)
        return true
    }

    // MARK: connections that are being made

    /// The oldest.
    private var dial: (id: ExchangeID, origin: Origin, version: LeaseVersion)? {
        for case (let id, .dialing(let origin, let version)) in leases { return (id, origin, version) }
        return nil
    }

    /// Whether for a call or for a client.
    var dialing: Origin? { dial?.origin.used(by: .client) }

    /// The connection that is being made stands.
    /// - Parameter http2: what the origin speaks, where that is asked for.
    @discardableResult
    func connects(http2: Bool = false) -> OriginLink? {
        guard let (id, origin, version) = dial else { return nil }
        let link = OriginLink(origin, speaksHTTP2: http2 && version == .any, pool)
        tell(attach(LinkStream(link: link, id: link.lend(to: self, id, isFirst: true)), id, reused: false), of: id)
        settle()
        return link
    }

    func dialFails(_ failure: LeaseFailure) {
        guard let id = dial?.id else { return }
        leases.removeAll { $0.id == id }
        happens("dial fails") { $0.happened(.leaseFailed(failure), to: id, now: now, &$1) }
    }

    /// The name has to be looked up; it has addresses; the origin accepted the connection, and its handshake begins.
    func dialResolves() { reached(.resolving, "dial resolves") }
    func dialConnects() { reached(.connecting, "dial connects") }
    func dialSecures() { reached(.securing, "dial secures") }

    private func reached(_ step: LeaseStep, _ words: String) {
        guard let id = dial?.id else { return }
        came(words)
        machine.leaseReached(step, id, now: now)
    }

    // MARK: the origin of the one exchange that has a connection for itself

    var origin: OriginLink? {
        for case (_, .stream(let stream)) in leases where stream.id == nil { return stream.link }
        return nil
    }

    func fromOrigin(_ bytes: [UInt8]) { for piece in splitter.pieces(bytes) { originPiece(piece) } }

    /// Bytes that nobody reads any more are lost, as on a socket.
    func originPiece(_ bytes: [UInt8]) { origin?.receive(bytes) }

    /// - Parameter cleanly: false for a reset.
    func originEnds(cleanly: Bool = true) { origin?.end(cleanly: cleanly) }

    /// What the origin says is wanted.
    var readsOrigin: Bool { origin?.isRead ?? false }

    // MARK: origins

    func originSaid(_ bytes: [UInt8], on link: OriginLink, for id: ExchangeID) {
        let start = machine.http.relays.share(of: bytes.count, from: .origin, of: id)
        if start > 0 {
            if !isOver { queueForClient(bytes[..<start]) }
            machine.queuedForClient(queue.count + claimed, now: now, &out)
            machine.relayedFromOrigin(start, through: &link.codec, for: id, now: now, &out)
        }
        if start < bytes.count {
            machine.received(Array(bytes[start...]).span, through: &link.codec, for: id, now: now, &out)
        }
        settle()
    }

    func originDrained(_ id: ExchangeID) {
        guard let stream = stream(of: id) else { return }
        happens { $0.queuedForOrigin(stream.queued, of: id, now: now, &$1) }
    }

    // MARK: queues

    /// The kernel took some of what was queued for one of the codecs.
    func touched(_ side: ConnectionSide = .client) { machine.touched(side, now: now) }

    /// So many bytes wait for that side.
    func queues(_ count: Int, for side: ConnectionSide) {
        switch side {
        case .client:
            claimed = count
            happens("has \(count) bytes waiting") { $0.queuedForClient(count, now: now, &$1) }
        case .origin:
            guard let origin, let id = origin.holder?.exchange else { return }
            origin.came("has \(count) bytes waiting")
            origin.claimed = count
            originDrained(id)
        }
    }

    // MARK: time

    /// Lets time pass; the connection wakes at each of its deadlines on the way.
    func waits(_ milliseconds: Int) {
        let end = now + milliseconds
        while !isGone, machine.wakeAt <= end {
            pool.now = max(now, machine.wakeAt)
            let before = machine.wakeAt
            wake()
            if !isGone, machine.wakeAt == before {
                Issue.record("the connection sleeps through its deadline \(before)")
                break
            }
        }
        pool.now = end
    }

    func wake() { happens { $0.woke(now: now, &$1) } }
}
