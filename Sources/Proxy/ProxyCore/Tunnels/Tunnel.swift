import Formats
import HTTPCodec
import Interception

/// A CONNECT until the protocol in its tunnel is known: says when to connect, when to answer, and what the tunnel carries.
struct Tunnel: ~Copyable {
    private enum Lease {
        /// No connection to the origin was ordered yet.
        case none
        case leasing(LeaseStep)
        /// The connection to the origin stands.
        case standing
    }

    private(set) var state = State.none
    private(set) var target = Tunnel.nowhere
    /// The time by which the next event must come, in milliseconds of the loop's clock.
    private(set) var deadline = 0
    private var lease = Lease.none
    /// The time until which a client whose TLS would be decrypted may begin, even if the origin speaks first.
    private var awaitsClientUntil = 0
    /// The client has begun a ClientHello.
    private var hasHello = false
    /// The client's handshake is under way.
    private var handshake: HandshakeMark?
    private(set) var greeting = OriginGreeting()
    /// The origin's connection ended before any byte passed.
    private var hasLost = false
    /// The client sent neither HTTP nor TLS, which may not pass yet: the origin's bytes may show the protocol.
    private var isUnknown = false

    private static let nowhere = Origin(scheme: .http, host: "", port: 0)

    /// How long to wait for a client whose TLS would be decrypted before connecting to its origin, in milliseconds.
    private static let peekTimeout = 1_000

    // MARK: state

    /// Whether a CONNECT is being answered, or its client's handshake is under way.
    var isUnderWay: Bool { state != .none }
    var isPeeking: Bool { state == .peeking }

    private mutating func enter(_ next: State) {
        assert(state.next.contains(next), "a tunnel may not go from \(state) to \(next)")
        state = next
    }

    /// Forgets the CONNECT, which has been decided or has ended.
    mutating func end() {
        guard isUnderWay else { return }
        enter(.none)
        self = Tunnel()
    }

    /// Takes the route of another generation of the configuration.
    mutating func reroute(_ engine: Engine) {
        if isUnderWay { target.route = engine.tunnelRoute(to: target.host) }
    }

    // MARK: events

    /// An admitted CONNECT to this target.
    mutating func begin(to origin: Origin, for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action {
        enter(.connecting)
        target = origin
        guard isOpened(cell) else {
            dial(for: cell, &out)
            return .wait
        }
        // no connection is needed when an interceptor responds in the origin's place
        if cell.exchange.engine.mayStandIn(origin.host, port: origin.port) { return answer(for: cell, &out) }
        dial(for: cell, by: .reach(cell.exchange.id, origin), &out)
        return .wait
    }

    /// - Parameter first: the client's first byte in the tunnel, if bytes of it wait.
    mutating func take(_ event: Event, first: UInt8?, for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action {
        switch event {
        case .connected: connected(for: cell, &out)
        case .reachable: reachable(for: cell, &out)
        case .failed(let failure): failed(failure, for: cell, &out)
        case .originEnded(let cleanly): originEnded(cleanly: cleanly, first, for: cell, &out)
        case .clientEnded(let inStream): clientEnded(inStream: inStream, first, for: cell, &out)
        case .timedOut: timedOut(first, for: cell, &out)
        case .adopted: connectAnew(for: cell, &out)
        }
    }

    /// The driver has begun a step of the lease.
    mutating func reached(_ step: LeaseStep, until limit: Int) {
        guard case .leasing = lease else { return }
        lease = .leasing(step)
        deadline = limit
    }

    /// Bytes of an origin that speaks first: this is no HTTP, except for HTTP/2 without TLS.
    mutating func heard(
        _ bytes: Span<UInt8>, first: UInt8?, for cell: ExchangeCell, _ out: inout CommandBuffer
    ) -> Action {
        let mayBeHTTP2 = greeting.hears(bytes) && !hasHello && cell.exchange.engine.settings.http2.clients
        let awaitsClient = greeting.hasRoom && !isUnknown && out.now < awaitsClientUntil && isOpened(cell)
        guard mayBeHTTP2 || awaitsClient else { return open(.unread(first: first), for: cell, &out) }
        // a client that speaks HTTP/2 or decrypted TLS has begun already, or begins now
        if !hasHello { deadline = min(deadline, out.now + Self.peekTimeout) }
        return .wait
    }

    private mutating func connected(for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action {
        lease = .standing
        switch state {
        case .connecting: return answer(for: cell, &out)
        // the tunnel's protocol was decided before it was connected
        case .joining: return relay(from: [])
        case .peeking:
            if isUnknown {
                deadline = out.now + Self.peekTimeout
            } else if !hasHello {
                deadline = out.now + cell.exchange.engine.settings.timeouts.tunnelIdle
            }
        case .none, .securing: break
        }
        return .wait
    }

    private mutating func reachable(for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action {
        guard state == .connecting else { return .wait }
        lease = .none
        return answer(for: cell, &out)
    }

    private mutating func failed(_ failure: LeaseFailure, for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action
    {
        var step = LeaseStep.connecting
        if case .leasing(let reached) = lease { step = reached }
        let error = ProxyError(failure, at: step, target)
        out.commands.append(.release(cell.exchange.id, reusable: false))
        guard state == .connecting else {
            cell.exchange.log.tell(.failed(token: error.token, details: error.details), out.now)
            return .close(reset: true)
        }
        end()
        return .refuse(error)
    }

    /// The origin closed its connection before the client said anything. If TLS is decrypted, requests get another connection;
    /// the client then has as long to begin as without one.
    private mutating func originEnded(
        cleanly: Bool, _ first: UInt8?, for cell: ExchangeCell, _ out: inout CommandBuffer
    ) -> Action {
        guard hasLost || isUnknown || !isOpened(cell) else {
            giveBack(reusable: false, for: cell, &out)
            (lease, greeting, hasLost) = (.none, OriginGreeting(), true)
            if !hasHello { deadline = out.now + Self.peekTimeout }
            return .wait
        }
        guard !greeting.isEmpty else { return .close(reset: !cleanly) }
        // relay the origin's last bytes, which were no HTTP/2
        return open(.unread(first: first), for: cell, &out)
    }

    private mutating func clientEnded(
        inStream: Bool, _ first: UInt8?, for cell: ExchangeCell, _ out: inout CommandBuffer
    ) -> Action {
        switch state {
        case .joining where first != nil: return .wait
        // the end of a stream is a half-close (RFC 9113 §8.5); the end of a socket mostly means that the client has gone
        case .connecting where inStream, .joining where inStream: return .wait
        case .peeking where !hasHello && (first != nil || inStream && isAsked):
            // too few bytes to be HTTP or a ClientHello, and no more will come
            return open(.unread(first: first), for: cell, &out)
        case .none, .connecting, .peeking, .joining, .securing: return .close(reset: false)
        }
    }

    /// The connection was not made in time; or the client has sent nothing in its tunnel, or too little.
    private mutating func timedOut(_ first: UInt8?, for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action {
        guard isPeeking else { return failed(.timedOut, for: cell, &out) }
        if hasHello { return .giveUpHello }
        switch lease {
        case .none:
            dial(for: cell, &out)
            return .wait
        case .leasing: return failed(.timedOut, for: cell, &out)
        case .standing where greeting.isEmpty && !isUnknown: return .close(reset: false)
        case .standing: return open(.unread(first: first), for: cell, &out)
        }
    }

    /// Connects again under new rules.
    private mutating func connectAnew(for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action {
        guard isAsked else { return .wait }
        out.commands.append(.release(cell.exchange.id, reusable: false))
        let limit = deadline
        dial(for: cell, &out)
        // a handshake that has begun keeps its timeout
        if isPeeking, hasHello { deadline = limit }
        return .wait
    }

    // MARK: the origin's connection

    /// Whether the tunnel's TLS is decrypted, if it carries TLS.
    private func isOpened(_ cell: ExchangeCell) -> Bool {
        cell.exchange.engine.settings.interception.opens(target.host, port: target.port)
    }

    /// Whether the origin's connection stands or is being made.
    private var isAsked: Bool { if case .none = lease { false } else { true } }

    /// - Parameter order: the order for the connection; nil when the tunnel needs one of its own.
    private mutating func dial(for cell: ExchangeCell, by command: DriverCommand? = nil, _ out: inout CommandBuffer) {
        if target.route != nil { cell.exchange.log.tell(.routed(by: target.peer), out.now) }
        lease = .leasing(.connecting)
        greeting = OriginGreeting()
        deadline = out.now + cell.exchange.engine.settings.timeouts.connect
        out.commands.append(command ?? .lease(cell.exchange.id, target, .new, .http1))
    }

    /// Gives back the tunnel's connection, whether it stands or is being made.
    mutating func giveBack(reusable: Bool, for cell: ExchangeCell, _ out: inout CommandBuffer) {
        switch lease {
        case .none: break
        case .leasing: out.commands.append(.release(cell.exchange.id, reusable: false))
        case .standing: out.commands.append(.release(cell.exchange.id, reusable: reusable))
        }
    }

    // MARK: decisions

    /// Responds to CONNECT. The client's next bytes decide the tunnel's protocol.
    private mutating func answer(for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action {
        enter(.peeking)
        awaitsClientUntil = out.now + Self.peekTimeout
        cell.exchange.log.tell(.delivered(status: 200), out.now)
        // in some protocols the origin speaks first: without a connection to it, wait only briefly for the client
        deadline = out.now + (isAsked ? cell.exchange.engine.settings.timeouts.tunnelIdle : Self.peekTimeout)
        return .answer
    }

    /// Starts the timeout of a handshake that the client has begun.
    mutating func beginHello(until limit: Int) {
        guard !hasHello else { return }
        hasHello = true
        deadline = limit
    }

    /// The client's bytes show no protocol that may pass.
    /// - Returns: `wait` while the origin may still show that it speaks first.
    mutating func awaitGreeting(for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action {
        guard !isUnknown else { return .wait }
        isUnknown = true
        switch lease {
        case .none: dial(for: cell, &out)
        case .leasing: break
        case .standing: deadline = out.now + Self.peekTimeout
        }
        return .wait
    }

    /// Relays the tunnel unread as soon as its connection stands.
    mutating func open(_ content: UnopenedContent, for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action {
        if let error = refusal(of: content, cell.exchange.engine) {
            giveBack(reusable: false, for: cell, &out)
            cell.exchange.log.tell(.failed(token: error.token, details: error.details), out.now)
            return .close(reset: true)
        }
        switch lease {
        case .standing: return relay(from: greeting.bytes)
        case .leasing: enter(.joining)
        case .none:
            enter(.joining)
            dial(for: cell, &out)
        }
        return .wait
    }

    private mutating func relay(from bytes: [UInt8]) -> Action {
        end()
        return .relay(bytes)
    }

    /// The tunnel carries HTTP without TLS.
    mutating func serve(speaksHTTP2: Bool, for cell: ExchangeCell, _ out: inout CommandBuffer) -> Action {
        var origin = target
        if speaksHTTP2 { origin.isSaidToSpeakHTTP2 = true }
        // an HTTP/2 cleartext origin must not get HTTP/1 requests, so do not reuse the connection
        giveBack(
            reusable: !cell.exchange.engine.settings.http2.speaksCleartext(to: origin), for: cell, &out)
        end()
        return .serve(origin)
    }

    /// Orders the client's TLS handshake.
    /// - Parameters:
    ///   - name: the name to show a certificate for.
    ///   - hello: the bytes of the client's ClientHello.
    mutating func secure(
        _ name: String, _ hello: Span<UInt8>, _ mark: HandshakeMark?, for cell: ExchangeCell, _ out: inout CommandBuffer
    ) -> Action {
        target.serverName = name != target.host ? name : nil
        handshake = mark
        // a pooled connection without TLS may start TLS later, if the origin has sent nothing
        giveBack(reusable: greeting.isEmpty, for: cell, &out)
        enter(.securing)
        deadline = out.now + cell.exchange.engine.settings.timeouts.tls
        var bytes: [UInt8] = []
        bytes.append(hello)
        out.commands.append(.secureClient(showing: .host(name), hello: bytes))
        return .secure
    }

    /// The client's handshake is done: requests come decrypted.
    /// - Returns: the mark of the handshake.
    mutating func secured() -> HandshakeMark? {
        if let handshake { handshake.isDone = true }
        defer { end() }
        return handshake
    }
}
