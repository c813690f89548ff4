internal import Addresses
import EventLoop
import Glibc
internal import HTTPCodec
import Metrics
internal import Names
import ProxyCore
import TLSEngine

/// Makes one connection to an origin, or to the proxy on the way there: asks the configuration, resolves, races the
/// addresses, each of which is checked and then connected to as it is, and opens the tunnel where one is needed. Whoever wants a
/// connection that may carry many waits for the same one; it is given up when the last of them has gone.
final class Dial {
    private struct Attempt {
        let channel: OriginChannel
        let address: IPAddress
    }

    /// What is said before the connection is handed over, where that is not TLS.
    private enum Talk {
        case none
        /// The proxy on the way is asked for a tunnel.
        case connect(ConnectHandshake)
        case greeting(Greeting)
    }

    let origin: Origin
    private let worker: Worker
    /// Those who wait for it, the first first.
    private var applicants: [Applicant]
    private let version: LeaseVersion
    private var step = LeaseStep.connecting
    private let began: Int
    private let hop: (host: String, port: UInt16)
    private var race = AddressRace()
    private var attempts: [Attempt] = []
    private var alarm: Alarm?
    /// The connection stands; the proxy is being asked for a tunnel.
    private var winner: OriginChannel?
    private var talk = Talk.none
    private var failure = LeaseFailure.unresolvable("the name has no address")
    private var awaitsNames = false
    private var hasAddress = false
    private var isOver = false
    /// The connection stood before: it was made for a tunnel in which TLS is spoken now.
    private var isTakenOver = false

    init(_ origin: Origin, for applicant: Applicant, worker: Worker) {
        self.origin = origin
        self.worker = worker
        applicants = [applicant]
        version = applicant.version
        began = worker.loop.now
        hop = origin.hop
    }

    func start() {
        worker.loop.refreshNow()
        if let reason = worker.settings.destinations.refusal(of: origin) { return fail(.forbidden(reason)) }
        if origin.scheme == .https, let channel = worker.origins.pool.takeUnused(origin.unspoken) {
            return takeOver(channel)
        }
        connect()
    }

    private func takeOver(_ channel: OriginChannel) {
        isTakenOver = true
        channel.turn(to: origin.poolKey)
        channel.dial = self
        winner = channel
        secure(channel, first: [])
    }

    /// What stood may have ended unseen: another is made.
    private func connectAfterAll() {
        giveUpWinner()
        isTakenOver = false
        reached(.connecting)
        connect()
    }

    private func connect() {
        if let known = NameService.immediate(hop.host, port: hop.port) { return take(known, isComplete: true) }
        guard !IPAddress.isLookalike(hop.host) else { return fail(.unresolvable("it is a number, but no address")) }
        switch worker.origins.names.find(hop.host, for: self, of: applicants.first?.connection.clientNetwork) {
        case .known(let addresses, let isComplete):
            worker.metrics.count(.namesKnown)
            hasAddress = true
            awaitsNames = !isComplete
            take(addresses, isComplete: isComplete)
        case .failed(let failure):
            worker.metrics.count(.namesFailed)
            fail(Self.words(failure))
        case .unasked, .waiting:
            awaitsNames = true
            worker.metrics.count(.namesAsked)
            reached(.resolving)
        }
    }

    // MARK: who waits

    /// Another may wait for it. One that takes longer than a connection may take has nobody wait who could have a better one.
    func takesMore(now: Int) -> Bool {
        !isOver && applicants.count < worker.origins.pool.known.terms(origin).maxStreams
            && now - began < worker.settings.engine.settings.timeouts.connect
    }

    func join(_ applicant: Applicant) {
        applicants.append(applicant)
        if step != .connecting { applicant.connection.dialReached(step, applicant.exchange) }
    }

    /// Does not wait any more.
    func leave(_ connection: Connection, _ exchange: ExchangeID) {
        applicants.removeAll { $0.isOf(connection, exchange) }
        guard applicants.isEmpty, !isOver else { return }
        worker.metrics.count(.dialTimeout)
        giveUpWinner()
        end()
    }

    private func reached(_ step: LeaseStep) {
        self.step = step
        for applicant in applicants { applicant.connection.dialReached(step, applicant.exchange) }
    }

    /// Whoever is told may have others of them leave.
    private func nextApplicant() -> Applicant? { applicants.isEmpty ? nil : applicants.removeFirst() }

    // MARK: addresses

    func resolved(_ answer: NameAnswer) {
        guard !isOver else { return }
        awaitsNames = !answer.isComplete
        if let failure = answer.failure {
            worker.metrics.count(.namesFailed)
            return fail(Self.words(failure))
        }
        if !hasAddress { reached(.connecting) }
        hasAddress = true
        take(answer.addresses, isComplete: answer.isComplete)
    }

    private static func words(_ failure: NameFailure) -> LeaseFailure {
        switch failure {
        case .unknown(let words, let rcode): .unresolvable(words, rcode: rcode)
        case .timedOut: .unresolved
        case .overloaded: .overloaded
        case .tooMany: .tooManyNames
        }
    }

    private func take(_ addresses: [SocketAddress], isComplete: Bool) {
        let targets = addresses.map { SocketAddress(address: $0.address, port: hop.port, scope: $0.scope) }
        race.add(targets, isComplete: isComplete, now: worker.loop.now)
        goOn()
    }

    /// Begins what is due.
    private func goOn() {
        while !isOver, winner == nil {
            switch race.next(now: worker.loop.now) {
            case .connect(let address): attempt(address)
            case .wait(let time):
                if let time { ring(at: time) }
                return
            case .exhausted: return fail(failure)
            }
        }
    }

    private func ring(at time: Int) {
        if alarm == nil { alarm = try? Alarm(loop: worker.loop) { [unowned self] in goOn() } }
        // without memory for a timer the other addresses wait for this one to fail
        _ = alarm?.set(milliseconds: time - worker.loop.now)
    }

    // MARK: attempts

    private func attempt(_ address: SocketAddress) {
        guard let checked = IPAddress(bytes: address.address) else { return race.failed(now: worker.loop.now) }
        if let reason = worker.settings.destinations.refusal(of: origin, at: checked) {
            return lose(.forbidden(reason))
        }
        if worker.origins.isOwn(checked, port: address.port) { return lose(.loop) }
        do {
            let dialed = try Dialer.connect(address, on: worker.loop)
            let inProgress = dialed.inProgress
            let channel = try OriginChannel(
                loop: worker.loop, security: worker.security, origin: origin.poolKey, descriptor: dialed.take(),
                connecting: inProgress)
            channel.dial = self
            attempts.append(Attempt(channel: channel, address: checked))
            if !inProgress { connected(channel, nil) }
        } catch {
            lose(error)
        }
    }

    func connected(_ channel: OriginChannel, _ error: SystemError?) {
        guard let index = attempts.firstIndex(where: { $0.channel === channel }) else { return }
        worker.loop.refreshNow()
        let address = attempts[index].address
        if error == nil, !worker.origins.isOwn(channel, address, port: hop.port) { return win(channel) }
        Self.abandon(channel)
        attempts.remove(at: index)
        if let error { lose(error) } else { lose(.loop) }
        goOn()
    }

    private func lose(_ error: SystemError) {
        // a family that this machine does not speak says nothing about the host
        let isTelling = error.code != ENETUNREACH && error.code != EAFNOSUPPORT
        switch failure {
        case .unresolvable: failure = .refused(error.reason)
        case .refused where isTelling: failure = .refused(error.reason)
        // why an address was not tried is what there is something to do about
        default: break
        }
        race.failed(now: worker.loop.now)
    }

    private func lose(_ failure: LeaseFailure) {
        self.failure = failure
        race.failed(now: worker.loop.now)
    }

    private func win(_ channel: OriginChannel) {
        winner = channel
        for attempt in attempts where attempt.channel !== channel { Self.abandon(attempt.channel) }
        attempts = []
        guard case .tunnel(let proxy) = origin.route else { return secure(channel, first: []) }
        let connect = ConnectHandshake(to: origin, by: proxy, worker.settings.engine)
        guard connect.request.withUnsafeBytes({ channel.send($0) }) else {
            return fail(.failed("the upstream proxy \(proxy) closed the connection"))
        }
        talk = .connect(connect)
        channel.startReading()
    }

    // MARK: the handshake

    /// The way to the origin is free. Where TLS is spoken there, it begins.
    /// - Parameter first: what came out of the tunnel already.
    private func secure(_ channel: OriginChannel, first: [UInt8]) {
        guard origin.scheme == .https else { return greet(channel, first: first) }
        guard first.isEmpty else { return fail(.insecure(TLSFault(.protocolError, "it spoke before it was asked"))) }
        reached(.securing)
        do throws(TLSFault) {
            let all = worker.settings.engine.settings.http2.originProtocols
            let begun = try channel.secure(speaking: version.takesStreams ? all : [.http11])
            channel.startReading()
            handshake(channel, begun)
        } catch {
            fail(.insecure(error))
        }
    }

    private func handshake(_ channel: OriginChannel, _ received: StreamChannel.Received) {
        switch received {
        case .end where isTakenOver, .failed(nil) where isTakenOver: connectAfterAll()
        case .failed(let fault): return fail(.insecure(fault ?? .closedInHandshake))
        case .end: return fail(.insecure(.closedInHandshake))
        case .nothing, .wouldBlock: if channel.stream?.negotiated != nil { succeed(channel, first: []) }
        case .bytes: succeed(channel, first: Array(channel.incoming))
        }
    }

    // MARK: the tunnel

    /// The proxy answers the request for a tunnel.
    func readable(_ channel: OriginChannel) {
        guard channel === winner else { return }
        worker.loop.refreshNow()
        if channel.stream != nil { return handshake(channel, channel.receiveResponse()) }
        switch talk {
        case .none: return
        case .connect(let connect): hear(connect, channel)
        case .greeting(let greeting): hear(greeting, channel)
        }
    }

    private func hear(_ connect: ConnectHandshake, _ channel: OriginChannel) {
        guard let proxy = origin.route?.proxy else { return }
        switch channel.receive() {
        case .wouldBlock, .nothing: return
        case .end, .failed: fail(.failed("the upstream proxy \(proxy) closed the connection without an answer"))
        case .bytes:
            var connect = connect
            let bytes = channel.incoming
            let answer = connect.received(bytes.span)
            talk = .connect(connect)
            switch answer {
            case .needsMore: return
            case .established(let position):
                talk = .none
                secure(channel, first: Array(bytes[position...]))
            case .refused(let status): fail(.tunnelRefused(status: status))
            case .broken(let words): fail(.failed("the answer of the upstream proxy \(proxy) breaks HTTP: \(words)"))
            }
        }
    }

    // MARK: the greeting

    /// Where nobody but a client says that HTTP/2 is spoken there, it is found out before anything is asked.
    private func greet(_ channel: OriginChannel, first: [UInt8]) {
        let engine = worker.settings.engine
        guard origin.isSaidToSpeakHTTP2, version.takesStreams, first.isEmpty, worker.origins.pool.known[origin] == nil,
            let leg = worker.protocols.client(channel, engine)
        else { return succeed(channel, first: first) }
        var hello: [UInt8] = []
        talk = .greeting(Greeting(leg, to: &hello))
        guard hello.withUnsafeBytes({ channel.send($0) }) else { return fail(Self.silent) }
        channel.startReading()
    }

    private static let silent = LeaseFailure.failed("it closed the connection without a word of HTTP/2")

    private func hear(_ greeting: Greeting, _ channel: OriginChannel) {
        switch channel.receive() {
        case .wouldBlock, .nothing: return
        case .end, .failed: fail(Self.silent)
        case .bytes:
            var greeting = greeting
            let finding = greeting.received(channel.incoming)
            talk = .greeting(greeting)
            switch finding {
            case .needsMore: return
            case .streams(let bytes): succeed(channel, first: bytes, greeted: greeting.leg)
            case .other:
                worker.origins.pool.known.note(.exchanges, of: origin)
                giveUpWinner()
                end()
                while let next = nextApplicant() { next.connection.leaseAgain(origin, next) }
            }
        }
    }

    /// Nothing will be heard from the channel.
    func readingRefused(_ channel: OriginChannel) {
        guard channel === winner else { return }
        fail(.failed("the system does not watch the connection"))
    }

    // MARK: the end

    /// - Parameters:
    ///   - first: what the origin said already.
    ///   - greeted: the leg that has begun on it.
    private func succeed(_ channel: OriginChannel, first: [UInt8], greeted: (any StreamClient)? = nil) {
        channel.dial = nil
        worker.metrics.count(isTakenOver ? .leasedIdle : .leasedNew)
        if let negotiated = channel.stream?.negotiated {
            worker.metrics.count(negotiated.isResumed ? .originResumptions : .originHandshakes)
        }
        end()
        let engine = worker.settings.engine
        let applicant = nextApplicant()
        // what is said of an origin counts until it has shown otherwise
        let isOther = origin.isSaidToSpeakHTTP2 && worker.origins.pool.known[origin] == .exchanges
        if version != .http1, !isOther, let leg = greeted ?? worker.protocols.client(channel, engine) {
            worker.metrics.count(.originStreamConnections)
            let shared = channel.share(leg, engine, from: worker.origins.pool)
            if let applicant { applicant.connection.dialed(channel, shared, applicant, first: first) }
            while let next = nextApplicant() { next.connection.joined(channel, shared, next) }
            // who wants a new one each time would leave one behind each time; one that waits to hear what the origin takes has none yet
            if applicant?.scope == .new, shared.count == 1 { shared.withdraw() }
        } else {
            if version.takesStreams, worker.protocols.mayCarryMany(origin, engine) {
                worker.origins.pool.known.note(.exchanges, of: origin)
            }
            if let applicant { applicant.connection.dialed(channel, for: applicant.exchange, first: first) }
            while let next = nextApplicant() {
                if next.asksPresence {
                    next.connection.reached(next.exchange)
                } else {
                    next.connection.leaseAgain(origin, next)
                }
            }
        }
        // only now: until a connection holds the channel, this is the one reference to it
        winner = nil
    }

    private func fail(_ failure: LeaseFailure) {
        worker.metrics.count(failure.counter)
        if case .insecure = failure { worker.metrics.count(.originHandshakeFailures) }
        giveUpWinner()
        end()
        if let first = nextApplicant() {
            if failure.wantsAnotherProtocol, first.streamUse == .lastResort {
                first.connection.leaseStream(origin, first)
            } else {
                first.connection.dialFailed(failure, for: first.exchange)
            }
        }
        while let next = nextApplicant() {
            // what one client has too many of says nothing about another
            if case .tooManyNames = failure {
                next.connection.leaseAgain(origin, next)
            } else {
                next.connection.dialFailed(failure, for: next.exchange)
            }
        }
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        worker.loop.deferRelease(self)
        worker.origins.pool.dials.remove(self)
        worker.origins.pool.reaching.remove(self)
        if awaitsNames { worker.origins.names.forget(hop.host, self) }
        for attempt in attempts { Self.abandon(attempt.channel) }
        attempts = []
        alarm?.cancel()
        alarm = nil
    }

    private func giveUpWinner() {
        guard let channel = winner else { return }
        Self.abandon(channel)
        winner = nil
    }

    private static func abandon(_ channel: OriginChannel) {
        channel.dial = nil
        channel.close()
    }
}

extension Connection {
    fileprivate func dialReached(_ step: LeaseStep, _ id: ExchangeID) {
        machine.leaseReached(step, id, now: worker.loop.now)
    }

    /// Who the client is where clients are counted.
    fileprivate var clientNetwork: AddressBlock? { machine.clientNetwork }
}
