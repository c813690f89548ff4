internal import EventLoop
internal import Glibc
internal import HTTPCodec

/// The sandbox on sockets: one loop that serves HTTP/1.1, plain or over TLS, on all given addresses. The Host field is ignored:
/// `am.localhost`, `ig.localhost` and `shop.localhost` are equal.
public final class SandboxService: Sendable {
    /// The service cannot start.
    public struct Failure: Error, CustomStringConvertible, Sendable {
        public let description: String
    }

    private enum Order: Sendable { case stop }

    /// The bound ports, in the order of `listen`.
    public let boundPorts: [UInt16]
    private let options: SandboxOptions
    private let authority: SandboxAuthority?
    private let log: @Sendable (String) -> Void
    private let answer: Answering?
    private let orders: Mailbox<Order>
    /// The listening sockets until `run` takes them.
    private let sockets: Locked<[Int32]>

    /// Answers a request at a time in seconds since 1970.
    public typealias Answering = @Sendable (SandboxRequest, Int) -> SandboxResponse

    /// Opens the listening sockets. Connections wait until `run`.
    /// - Parameters:
    /// - listen: numeric addresses and ports; port 0 lets the system choose.
    /// - authority: if given, all addresses serve HTTPS, with a certificate for any requested name.
    /// - log: receives one line for each request, `GET /shop/pay → 401 · …`, on the thread of `run`, without secrets.
    /// - answer: what answers in place of the sandbox.
    /// - Throws: `Failure` with the address and the system's reason.
    public init(
        options: SandboxOptions = SandboxOptions(), listen: [(String, UInt16)], authority: SandboxAuthority? = nil,
        log: @escaping @Sendable (String) -> Void = { _ in }, answer: Answering? = nil
    ) throws {
        var numbers: [Int32] = []
        var ports: [UInt16] = []
        do {
            orders = try Mailbox()
            for (host, port) in listen {
                guard let address = SocketAddress(numeric: host, port: port) else {
                    throw Failure(description: "\(host) is not a numeric address")
                }
                do {
                    let socket = try ListeningSocket(address)
                    ports.append(socket.address.port)
                    numbers.append(socket.take().release())
                } catch {
                    throw Failure(description: "cannot listen on \(address): \(error.reason)")
                }
            }
        } catch {
            for number in numbers { close(number) }
            throw error
        }
        self.options = options
        self.authority = authority
        self.log = log
        self.answer = answer
        boundPorts = ports
        sockets = Locked(numbers)
    }

    deinit {
        sockets.withLock { for number in $0 { close(number) } }
    }

    /// Serves on the calling thread until `stop` or one of the signals. May be called once.
    /// - Throws: `Failure` if no event loop can be created.
    public func run(until signals: [Int32] = []) throws {
        let numbers = sockets.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
        do {
            let context = SandboxContext(
                loop: try Loop(), options: options, security: try authority.map { try SandboxSecurity($0) },
                answer: answer, log: log)
            try context.open(numbers)
            let port = try MailboxPort(loop: context.loop, orders) { [unowned context] _ in context.close() }
            let sources = try signals.map { signal in
                try SignalSource(loop: context.loop, signal: signal) { [unowned context] in context.close() }
            }
            withExtendedLifetime((port, sources)) { context.loop.run() }
        } catch {
            throw Failure(description: "cannot serve: \(error)")
        }
    }

    /// Ends `run` and closes open connections. Callable on any thread.
    public func stop() { orders.post(.stop) }
}

/// The shared state of a loop's connections.
final class SandboxContext {
    let loop: Loop
    let options: SandboxOptions
    /// Nil for plain HTTP.
    let security: SandboxSecurity?
    let log: @Sendable (String) -> Void
    private var server: SandboxServer
    private let answering: SandboxService.Answering?
    private var connections: [ObjectIdentifier: SandboxConnection] = [:]
    private var listeners: [SandboxListener] = []
    private var sweep: Timer?
    private var courier: PushCourier?

    private static let sweepInterval = 500

    init(
        loop: Loop, options: SandboxOptions, security: SandboxSecurity?, answer: SandboxService.Answering?,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.loop = loop
        self.options = options
        self.security = security
        self.log = log
        server = SandboxServer(options: options)
        answering = answer
    }

    /// Seconds since 1970.
    var wallClock: Int { time(nil) }

    func open(_ sockets: [Int32]) throws(SystemError) {
        for number in sockets {
            listeners.append(try SandboxListener(context: self, socket: try ListeningSocket(adopting: number)))
        }
        if let target = options.pushTarget { courier = PushCourier(target, log) }
        sweep = try Timer(loop: loop, everyMilliseconds: Self.sweepInterval) { [unowned self] in sweepIdle() }
    }

    func accept(_ descriptor: consuming Descriptor) {
        guard let connection = try? SandboxConnection(context: self, descriptor: descriptor) else { return }
        connections[ObjectIdentifier(connection)] = connection
        connection.startReading()
    }

    func forget(_ connection: SandboxConnection) { connections[ObjectIdentifier(connection)] = nil }

    func answer(_ request: SandboxRequest) -> SandboxResponse {
        let response = answering?(request, wallClock) ?? server.handle(request, now: wallClock)
        log("\(request.head.methodText) \(request.head.path) → \(response.status) · \(response.note)")
        for push in response.pushes { courier?.post(push) }
        for mail in response.mails { log(mail) }
        return response
    }

    private func sweepIdle() {
        let now = loop.refreshNow()
        for connection in connections.values where connection.deadline < now { connection.end() }
        // accepting pauses when descriptors run out
        for listener in listeners { listener.resume() }
    }

    /// Closes everything and stops the loop. Closed channels are released at the end of the turn.
    func close() {
        courier?.close()
        courier = nil
        sweep?.cancel()
        sweep = nil
        for listener in listeners { listener.close() }
        for connection in connections.values { connection.end() }
        listeners = []
        loop.stop()
    }
}

private final class SandboxListener: Listener {
    private unowned let context: SandboxContext

    init(context: SandboxContext, socket: consuming ListeningSocket) throws(SystemError) {
        self.context = context
        try super.init(loop: context.loop, listening: socket.take())
    }

    override func accepted(_ descriptor: consuming Descriptor, from peer: SocketAddress) { context.accept(descriptor) }

    override func acceptFailed(_ error: SystemError) {
        context.log("cannot accept: \(error.reason)")
        pause()
    }
}
