import ProxyCore

/// A few clients in HTTP/1 and HTTP/2, and origins likewise, around the connections of one worker, moved by a scheduler that
/// decides by its seed alone.
struct StreamSimulation {
    static let clientsPerWorld = 4

    private var random: SeededGenerator
    private let ledger = Ledger()
    private let world: StreamWorld
    private var clients: [SimulatedStreams] = []
    private var services: [SimulatedService] = []
    /// Which hosts speak HTTP/2, and how many streams they allow.
    private var speakers: [String: Int] = [:]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        world = StreamWorld(.simulated(), trace: TraceBook.begin("seed-\(seed)"))
        for host in ["o0.test", "o1.test", "shop.test", "am.test"] where random.chance(600) {
            speakers[host] = random.chance(300) ? 2 : 100
        }
        for number in 1...Self.clientsPerWorld {
            clients.append(
                SimulatedStreams(number, world.client(http2: random.chance(650)), ledger, &random))
        }
    }

    /// Runs to the end of all connections.
    /// - Returns: what was found wrong.
    mutating func run() -> [String] {
        var steps = 0
        while ledger.failures.isEmpty, clients.contains(where: { !$0.isOver }) {
            steps += 1
            guard steps < 200_000 else {
                ledger.fail("the connections do not come to an end")
                break
            }
            if random.chance(3) { passTime() } else if !act() { passTime() }
            settle()
        }
        guard ledger.failures.isEmpty else { return ledger.failures }
        for client in clients { client.checkEnd() }
        for origin in world.origins where !origin.link.isIdle {
            ledger.fail("\(origin.name) has streams that nobody has")
        }
        return ledger.failures
    }

    /// What came about.
    var noted: Set<String> { ledger.noted }

    /// What all clients got, as a number each.
    var trail: [UInt64] {
        clients.flatMap { client in
            client.tickets.indices.map { Ledger.hash(client.far.responses[$0]?.body ?? []) }
        }
    }

    // MARK: one step

    /// Something that does not need time. False where there is nothing.
    private mutating func act() -> Bool {
        let kinds = [0, 1, 2].shuffled(using: &random)
        for kind in kinds {
            switch kind {
            case 0: if actClients() { return true }
            case 1: if actOrigins() { return true }
            default: if actDials() { return true }
            }
        }
        return false
    }

    private mutating func actClients() -> Bool {
        let first = random.below(clients.count)
        for offset in clients.indices where clients[(first + offset) % clients.count].act(&random) { return true }
        return false
    }

    private mutating func actOrigins() -> Bool {
        guard !services.isEmpty else { return false }
        let first = random.below(services.count)
        for offset in services.indices where actOrigin(services[(first + offset) % services.count]) { return true }
        return false
    }

    private mutating func actOrigin(_ service: SimulatedService) -> Bool {
        let far = service.far
        let link = far.link
        if !link.queue.isEmpty, random.chance(500) {
            far.receive(link.take(1 + random.below(random.chance(300) ? 100 : 20_000)))
            return true
        }
        if link.isClosed {
            guard link.queue.isEmpty, !far.isOver else { return false }
            far.ended()
            return true
        }
        if !far.outgoing.isEmpty, link.isRead {
            link.receive(far.takeOutgoing(1 + random.below(random.chance(300) ? 100 : 16_000)))
            return true
        }
        if let cleanly = far.ends, far.outgoing.isEmpty {
            far.hasEnded()
            link.end(cleanly: cleanly)
            return true
        }
        return service.act(&random)
    }

    private mutating func actDials() -> Bool {
        guard let (driver, origin) = world.dialing, random.chance(700) else { return false }
        if origin.host == "none.test" {
            driver.dialFails(.unresolvable("no such name"))
        } else if random.chance(20) {
            driver.dialFails(random.chance(500) ? .refused("refused") : .timedOut)
        } else {
            let streams = speakers[origin.host]
            world.connects(driver, http2: streams != nil, streams: streams ?? 0)
            if let far = world.origins.last { services.append(SimulatedService(far, ledger)) }
        }
        return true
    }

    /// Everybody looks at what came; what must always hold is checked.
    private mutating func settle() {
        for client in clients {
            client.look()
            let driver = client.far.driver
            if driver.isOver, !driver.holdsNothing {
                ledger.fail("\(client.name) is over and holds an origin's stream")
            }
            if !driver.isOver, driver.deadline == .max { ledger.fail("\(client.name) waits for ever") }
        }
        for service in services {
            service.look(&random)
            let link = service.far.link
            // as much as the windows of those who send it, one of which may be larger on each connection
            let most = 64 << 10 + max(1, link.streams) * 320 << 10 + Self.clientsPerWorld * 512 << 10
            if link.held > most {
                ledger.fail("\(link.held) bytes wait for \(service.far.name)")
            }
        }
    }

    // MARK: time

    /// To the next deadline of one of the connections, or some way towards it.
    private mutating func passTime() {
        for client in clients where random.chance(300) { client.wakeUp() }
        let open = clients.map(\.far.driver).filter { !$0.isOver }
        guard let next = open.map(\.deadline).min() else { return }
        let end = max(world.pool.now, next)
        world.pool.now = random.chance(300) ? world.pool.now + (end - world.pool.now) / 2 : end
        for driver in open where driver.deadline <= world.pool.now { driver.wake() }
    }
}
