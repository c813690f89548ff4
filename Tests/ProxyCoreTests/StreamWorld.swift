import ProxyCore

/// Clients and origins around one worker's connections, with all bytes that are under way between them.
final class StreamWorld {
    let pool: LinkPool
    private(set) var clients: [FarClient] = []
    private(set) var origins: [FarOrigin] = []
    private let settings: Settings
    private let flows = Flows()
    private var requests = 0
    /// What is read in one call.
    private static let readSize = 16 << 10

    init(_ settings: Settings, trace: Trace? = TraceBook.begin()) {
        self.settings = settings
        pool = LinkPool(trace: trace, takesAtOnce: false)
    }

    func client(http2: Bool) -> FarClient {
        clients.append(FarClient(driver(), http2: http2))
        return clients[clients.count - 1]
    }

    /// A client whose frames are made by hand.
    func clientByHand() -> FarClient {
        clients.append(FarClient(byHand: driver()))
        return clients[clients.count - 1]
    }

    private func driver() -> DriverModel {
        DriverModel(settings, SharedStores(flows: flows), pool, number: clients.count + 1)
    }

    /// The oldest connection that is being made.
    var dialing: (driver: DriverModel, origin: Origin)? {
        for client in clients { if let origin = client.driver.dialing { return (client.driver, origin) } }
        return nil
    }

    func connects(_ driver: DriverModel, http2: Bool, streams: Int = 100) {
        guard let link = driver.connects(http2: http2) else { return }
        origins.append(
            FarOrigin(link, streams: streams) { [unowned self] in
                requests += 1
                return requests
            })
    }

    func origin(of request: Int) -> FarOrigin? {
        origins.first { $0.requests.contains { $0.number == request } }
    }

    // MARK: bytes

    /// Moves bytes until nobody has any that somebody takes.
    func settle(_ splitter: inout Splitter) {
        var goesOn = true
        while goesOn {
            goesOn = false
            for client in clients where move(client, &splitter) { goesOn = true }
            for origin in origins where move(origin, &splitter) { goesOn = true }
        }
    }

    /// What is large comes as it is: how it is cut matters at the ends of messages.
    private static func pieces(_ bytes: [UInt8], _ splitter: inout Splitter) -> [[UInt8]] {
        bytes.count < readSize ? splitter.pieces(bytes) : [bytes]
    }

    private func move(_ client: FarClient, _ splitter: inout Splitter) -> Bool {
        var hasMoved = false
        let driver = client.driver
        if !client.outgoing.isEmpty, driver.readsClient {
            hasMoved = true
            let pieces = Self.pieces(client.takeOutgoing(Self.readSize), &splitter)
            for (index, piece) in pieces.enumerated() {
                guard driver.readsClient else {
                    client.putBack(pieces[index...].joined())
                    break
                }
                driver.fromClient(piece)
            }
        }
        if !driver.queue.isEmpty, !client.isStalled {
            hasMoved = true
            client.receive(driver.take(.max))
        }
        if driver.client != .open, driver.queue.isEmpty, !client.isOver, !client.isStalled {
            hasMoved = true
            client.ended(cleanly: driver.client != .reset)
            if driver.client == .finished { driver.clientEnds() }
        }
        return hasMoved
    }

    private func move(_ origin: FarOrigin, _ splitter: inout Splitter) -> Bool {
        var hasMoved = false
        let link = origin.link
        if !link.queue.isEmpty, link.shared != nil || !origin.isStalled {
            hasMoved = true
            origin.receive(link.take(.max))
        }
        if link.isClosed, link.queue.isEmpty, !origin.isOver {
            origin.ended()
            return true
        }
        if !origin.outgoing.isEmpty, link.isRead, !link.isClosed {
            hasMoved = true
            let pieces = Self.pieces(origin.takeOutgoing(Self.readSize), &splitter)
            for (index, piece) in pieces.enumerated() {
                guard link.isRead else {
                    origin.putBack(pieces[index...].joined())
                    break
                }
                link.receive(piece)
            }
        }
        if let cleanly = origin.ends, origin.outgoing.isEmpty {
            hasMoved = true
            origin.hasEnded()
            link.end(cleanly: cleanly)
        }
        return hasMoved
    }

    // MARK: time

    func passes(_ milliseconds: Int, _ splitter: inout Splitter) {
        let end = pool.now + milliseconds
        while let next = clients.filter({ !$0.driver.isOver }).map(\.driver.deadline).min(), next <= end {
            pool.now = max(pool.now, next)
            for client in clients where !client.driver.isOver && client.driver.deadline <= pool.now {
                client.driver.wake()
            }
            settle(&splitter)
        }
        pool.now = end
    }
}
