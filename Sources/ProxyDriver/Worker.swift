internal import EventLoop
import Interception
internal import ProxyCore

/// One loop with its listeners, connections and pool, on a thread of its own.
final class Worker {
    let loop: Loop
    let number: Int
    var out = Outbox()
    let pool: OriginPool
    let recorder: any Recorder
    private(set) var settings: WorkerSettings
    private let flows: FlowTable
    private let resolver: Resolver
    private let authenticator: Authenticator
    /// Made with the first password.
    private var desk: PasswordDesk?
    private let own: [SocketAddress]
    private let answers: Mailbox<Resolver.Answer>
    private var waiting: [UInt64: Dial] = [:]
    private var nextTicket: UInt64 = 0
    private var listeners: [ProxyListener] = []
    private var connections: [Connection?] = []
    private var free: [Int] = []
    private var nextNumber: UInt64
    private(set) var openConnections = 0
    private var isDraining = false
    private var sources: [EventSource] = []

    /// How often deadlines are looked at, in milliseconds. Every timeout is late by at most this.
    private static let sweepInterval = 100
    private static let poolIdle = 30_000
    /// Step of connection numbers, so that those of two workers never meet.
    private static let maxWorkers: UInt64 = 256

    init(_ start: WorkerStart, recorder: any Recorder) throws(SystemError) {
        loop = try Loop()
        number = start.number
        settings = start.settings
        flows = start.flows
        resolver = start.resolver
        authenticator = start.authenticator
        own = start.addresses
        self.recorder = recorder
        pool = OriginPool(perOrigin: start.settings.idlePerOrigin)
        nextNumber = UInt64(start.number)
        answers = try Mailbox()
        sources.append(try MailboxPort(loop: loop, answers) { [unowned self] in answered($0) })
        sources.append(try MailboxPort(loop: loop, start.letters) { [unowned self] in receive($0) })
        sources.append(
            try Timer(loop: loop, everyMilliseconds: Self.sweepInterval) { [unowned self] in sweep() })
        for descriptor in start.listeners {
            let socket = try ListeningSocket(adopting: descriptor)
            listeners.append(try ProxyListener(worker: self, socket: socket))
        }
    }

    func run() {
        loop.run()
        recorder.flush()
    }

    // MARK: letters

    private func receive(_ letter: WorkerLetter) {
        switch letter {
        case .adopt(let settings):
            self.settings = settings
            for connection in connections { connection?.adopt(settings.engine) }
        case .drain:
            isDraining = true
            for listener in listeners { listener.close() }
            listeners = []
            for connection in connections { connection?.closeIfIdle() }
            stopWhenEmpty()
        case .stop:
            for listener in listeners { listener.close() }
            loop.stop()
        }
    }

    private func stopWhenEmpty() {
        if isDraining, openConnections == 0 { loop.stop() }
    }

    // MARK: connections

    func accept(_ descriptor: consuming Descriptor, from peer: SocketAddress) {
        guard let address = IPAddress(bytes: peer.address) else { return }
        let isBalancer = settings.clients.isBalancer(address)
        guard isBalancer || settings.clients.admits(address) else { return }
        guard openConnections < settings.maxConnections else {
            // no memory is spent on one too many: the kernel's buffer takes these few bytes
            let text = Session.tooManyConnections
            return descriptor.sendOnce(text)
        }
        nextNumber += Self.maxWorkers
        guard let channel = try? ClientChannel(loop: loop, descriptor: descriptor) else { return }
        let wantsLocal = settings.engine.settings.forwarded == .forwarded
        let session = Session(
            engine: settings.engine, flows: flows, number: nextNumber, client: peer.description,
            source: ClientSource(
                address: address, local: wantsLocal ? localAddress(of: channel) : nil,
                balancer: isBalancer ? settings.clients : nil),
            now: loop.refreshNow())
        let connection = Connection(worker: self, client: channel, session: session)
        if let index = free.popLast() {
            connection.index = index
            connections[index] = connection
        } else {
            connection.index = connections.count
            connections.append(connection)
        }
        openConnections += 1
    }

    private func localAddress(of channel: ClientChannel) -> IPAddress? {
        channel.localAddress.flatMap { IPAddress(bytes: $0.address) }
    }

    func closed(_ connection: Connection) {
        guard connections[connection.index] === connection else { return }
        loop.bury(connection)
        connections[connection.index] = nil
        free.append(connection.index)
        openConnections -= 1
        stopWhenEmpty()
    }

    private func sweep() {
        let now = loop.refreshNow()
        for index in connections.indices {
            guard let connection = connections[index] else { continue }
            if connection.deadline <= now { connection.sweep(now) }
            if isDraining { connection.closeIfIdle() }
        }
        pool.expire(before: now - Self.poolIdle)
        recorder.flush()
    }

    // MARK: passwords

    /// The verdict where it is known at once; else the connection is told later.
    func verdict(on check: PasswordCheck, for connection: Connection) -> PasswordVerdict? {
        if desk == nil { desk = try? PasswordDesk(loop: loop, authenticator: authenticator) }
        return desk.map { $0.verdict(on: check, for: connection) } ?? .busy
    }

    // MARK: names

    func resolve(_ origin: Origin, for dial: Dial) -> UInt64 {
        nextTicket += 1
        waiting[nextTicket] = dial
        resolver.resolve(origin.host, port: origin.port, ticket: nextTicket, reply: answers)
        return nextTicket
    }

    func forget(_ ticket: UInt64) { waiting[ticket] = nil }

    private func answered(_ answer: Resolver.Answer) {
        waiting.removeValue(forKey: answer.ticket)?.resolved(answer)
    }

    /// Whether a connection to that address would come back to this very proxy.
    func isOwn(_ address: SocketAddress) -> Bool {
        own.contains { listener in
            guard listener.port == address.port else { return false }
            if listener.address == address.address { return true }
            let isWildcard = listener.address.allSatisfy { $0 == 0 }
            return isWildcard && IPAddress(bytes: address.address)?.unmapped.isLoopback == true
        }
    }
}

final class ProxyListener: Listener {
    private unowned(unsafe) let worker: Worker

    init(worker: Worker, socket: consuming ListeningSocket) throws(SystemError) {
        self.worker = worker
        try super.init(loop: worker.loop, socket: socket)
    }

    override func accepted(_ descriptor: consuming Descriptor, from peer: SocketAddress) {
        worker.accept(descriptor, from: peer)
    }
}
