import HTTPCodec
import ProxyCore
import TLSEngine

/// A few clients, their origins and AM around one pool, moved by a scheduler that decides by its seed alone: which side's
/// bytes come next and in what pieces, who stops, breaks off or vanishes, and when time passes.
struct Simulation {
    static let clientsPerWorld = 4

    private var random: SeededGenerator
    private let ledger = Ledger()
    private let pool: LinkPool
    private var clients: [SimulatedClient] = []
    private var peers: [ObjectIdentifier: SimulatedPeer] = [:]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        pool = LinkPool(trace: TraceBook.begin("seed-\(seed)"))
    }

    private static let settings = Settings.simulated {
        $0.timeouts.tls = 250
        $0.timeouts.tunnelIdle = 700
        $0.interception.hosts = [DestinationPattern("secure.test")].compactMap { $0 }
    }

    /// Runs to the end of all connections.
    /// - Returns: what was found wrong.
    mutating func run() -> [String] {
        for number in 1...Self.clientsPerWorld {
            clients.append(SimulatedClient(number, ledger, Self.settings, pool, &random))
        }
        var steps = 0
        while ledger.failures.isEmpty, clients.contains(where: { !$0.isOver }) {
            steps += 1
            guard steps < 50_000 else {
                ledger.fail("the connections do not come to an end")
                break
            }
            if random.chance(10) { passTime() } else if !act() { passTime() }
            settle()
        }
        for client in clients { client.checkEnd() }
        return ledger.failures
    }

    /// What all clients got, as a number each.
    var trail: [UInt64] { clients.map { Ledger.hash($0.driver.sent) } }

    // MARK: one step

    /// Something that does not need time. False where there is nothing.
    private mutating func act() -> Bool {
        let first = random.below(clients.count)
        for offset in 0..<clients.count {
            let client = clients[(first + offset) % clients.count]
            guard !client.isOver else { continue }
            if random.chance(2) {
                client.vanish()
                return true
            }
            if random.chance(2), !client.hasEnded {
                client.end()
                return true
            }
            let side = random.below(2)
            if side == 0, actClient(client) || actOrigin(client) { return true }
            if side == 1, actOrigin(client) || actClient(client) { return true }
        }
        return actPool()
    }

    private mutating func actClient(_ client: SimulatedClient) -> Bool {
        if client.canSend {
            client.send(&random)
            return true
        }
        if client.shake(&random) { return true }
        if client.holdsBody, random.chance(50) {
            client.sendBody()
            return true
        }
        if client.isDone || client.driver.client == .finished, !client.hasEnded, random.chance(300) {
            client.end()
            return true
        }
        return false
    }

    private mutating func actOrigin(_ client: SimulatedClient) -> Bool {
        let driver = client.driver
        if let wanted = driver.dialing {
            if wanted.host == "none.test" {
                driver.dialFails(.unresolvable("no such name"))
            } else if random.chance(20) {
                driver.dialFails(random.chance(500) ? .refused("refused") : .timedOut)
            } else if wanted.scheme == .https, random.chance(60) {
                let fault = TLSFault(.certificate, "expired")
                if random.chance(500) { driver.dialSecures() } else { driver.dialFails(.insecure(fault)) }
            } else if random.chance(980), let connection = driver.connects() {
                _ = peer(connection)
            } else {
                return false
            }
            return true
        }
        guard let connection = driver.origin else { return false }
        let peer = peer(connection)
        if !peer.outgoing.isEmpty {
            let count = random.chance(200) ? peer.outgoing.count : min(peer.outgoing.count, 1 + random.below(120))
            driver.originPiece(peer.take(count, &random))
            return true
        }
        if peer.fate != .stays, !connection.hasEnded {
            driver.originEnds(cleanly: peer.fate == .ends)
            return true
        }
        if peer.isBlind, !connection.hasEnded, random.chance(100) {
            if peer.maySpeak, random.chance(300) { peer.speak(&random) } else { peer.fate = .ends }
            return true
        }
        return false
    }

    /// An idle connection ends, and its end is seen before it is used again, or not.
    private mutating func actPool() -> Bool {
        guard let host = pool.idle.map(\.origin.host).min(), random.chance(30),
            let connection = pool.idle.last(where: { $0.origin.host == host })
        else { return false }
        if random.chance(500) {
            connection.close()
        } else {
            peer(connection).fate = random.chance(500) ? .ends : .breaks
        }
        return true
    }

    private mutating func peer(_ connection: OriginLink) -> SimulatedPeer {
        if let known = peers[ObjectIdentifier(connection)] { return known }
        let peer = SimulatedPeer(connection, ledger, &random)
        peers[ObjectIdentifier(connection)] = peer
        return peer
    }

    /// Everybody looks at what came; what must always hold is checked.
    private mutating func settle() {
        for client in clients {
            client.look()
            let driver = client.driver
            if let connection = driver.origin {
                let peer = peer(connection)
                peer.look(&random)
                client.checkTunnel(peer)
            }
            if driver.isIdle || driver.isOver, driver.origin != nil || driver.dialing != nil {
                ledger.fail("\(client.name) is idle and holds its origin leg")
            }
            if !driver.isOver, driver.deadline == .max { ledger.fail("\(client.name) waits for ever") }
        }
        for connection in pool.idle {
            let peer = peer(connection)
            if peer.isBlind { ledger.fail("a tunnel's connection was put into the pool") }
            if !peer.outgoing.isEmpty { ledger.fail("a connection that is still speaking was put into the pool") }
        }
    }

    // MARK: time

    /// To the next deadline of one of the connections, or some way towards it.
    private mutating func passTime() {
        let open = clients.filter { !$0.isOver }
        guard let next = open.map(\.driver.deadline).min() else { return }
        let end = max(pool.now, next)
        pool.now = random.chance(300) ? pool.now + (end - pool.now) / 2 : end
        for client in open {
            if random.chance(20) { client.driver.touched() }
            if client.driver.deadline <= pool.now { client.driver.wake() }
        }
    }
}
