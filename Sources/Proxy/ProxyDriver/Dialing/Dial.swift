import EventLoop
internal import HTTPCodec
import Metrics
internal import Names
import ProxyCore
import TLSEngine

/// Makes one connection to an origin or its upstream proxy, or takes over an unused one, and hands it to the requests that wait.
/// Requests for a shared connection join the same dial. It is cancelled when the last of them leaves.
final class Dial {
    let origin: Origin
    private let worker: Worker
    private let version: LeaseVersion
    private let began: Int
    private var requests: LeaseQueue
    private var connector: HostConnector
    private var handshake: OriginHandshake
    /// The established connection, during the handshake.
    private var winner: OriginChannel?
    /// True if an existing connection was taken over: it was made for a tunnel that now carries TLS.
    private var isTakenOver = false
    private var isOver = false

    init(_ origin: Origin, for request: LeaseRequest, worker: Worker) {
        self.origin = origin
        self.worker = worker
        version = request.version
        began = worker.loop.now
        requests = LeaseQueue(request)
        connector = HostConnector(to: origin, worker)
        handshake = OriginHandshake(with: origin, takesStreams: version.takesStreams, worker)
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
        goOn(handshake.secure(channel, first: []), on: channel)
    }

    /// Dials anew after a taken-over connection turned out to be closed.
    private func connectAfterAll() {
        giveUpWinner()
        isTakenOver = false
        requests.reached(.connecting)
        connect()
    }

    // MARK: waiting requests

    /// True if another request may join. A dial that exceeds the connect timeout is not joined.
    func takesMore(now: Int) -> Bool {
        !isOver && requests.count < worker.origins.pool.known.terms(origin).maxStreams
            && now - began < worker.settings.engine.settings.timeouts.connect
    }

    func join(_ request: LeaseRequest) { requests.add(request) }

    /// Removes a request. The last one cancels the dial.
    func leave(_ connection: Connection, _ exchange: ExchangeID) {
        requests.remove(connection, exchange)
        guard requests.isEmpty, !isOver else { return }
        worker.metrics.count(.dialTimeout)
        giveUpWinner()
        end()
    }

    // MARK: the connection

    private func connect() {
        let outcome = connector.start(for: self, of: requests.client)
        if connector.isResolving { requests.reached(.resolving) }
        goOn(outcome)
    }

    func resolved(_ answer: NameAnswer) {
        guard !isOver else { return }
        let outcome = connector.resolved(answer, for: self)
        if requests.step == .resolving, answer.failure == nil { requests.reached(.connecting) }
        goOn(outcome)
    }

    func connected(_ channel: OriginChannel, _ error: SystemError?) {
        goOn(connector.connected(channel, error, for: self))
    }

    /// Tries the next address after a delay.
    func rang() { goOn(connector.goOn(for: self)) }

    private func goOn(_ outcome: HostConnector.Outcome) {
        switch outcome {
        case .goesOn: return
        case .connected(let channel):
            winner = channel
            goOn(handshake.begin(on: channel), on: channel)
        case .failed(let failure): fail(failure)
        }
    }

    // MARK: the handshake

    func readable(_ channel: OriginChannel) {
        guard channel === winner else { return }
        worker.loop.refreshNow()
        goOn(handshake.readable(channel), on: channel)
    }

    private func goOn(_ outcome: OriginHandshake.Outcome, on channel: OriginChannel) {
        if handshake.isSecuring, requests.step != .securing { requests.reached(.securing) }
        switch outcome {
        case .goesOn: return
        case .done(let first, let greeted): succeed(channel, first: first, greeted: greeted)
        case .ended where isTakenOver: connectAfterAll()
        case .ended: fail(.insecure(.closedInHandshake))
        case .isOther:
            worker.origins.pool.known.note(.exchanges, of: origin)
            giveUpWinner()
            end()
            while let next = requests.removeFirst() { next.connection.leases.leaseAgain(origin, next) }
        case .failed(let failure): fail(failure)
        }
    }

    /// Handles a channel that cannot be read.
    func readingRefused(_ channel: OriginChannel) {
        guard channel === winner else { return }
        fail(.failed("the system does not watch the connection"))
    }

    // MARK: the end

    /// - Parameters:
    /// - first: bytes that the origin has sent already.
    /// - greeted: the codec that has started on the connection.
    private func succeed(_ channel: OriginChannel, first: [UInt8], greeted: (any StreamClient)?) {
        channel.dial = nil
        worker.metrics.count(isTakenOver ? .leasedIdle : .leasedNew)
        if let negotiated = channel.stream?.negotiated {
            worker.metrics.count(negotiated.isResumed ? .originResumptions : .originHandshakes)
        }
        end()
        let engine = worker.settings.engine
        let request = requests.removeFirst()
        // prior knowledge of HTTP/2 counts until the origin has proved otherwise
        let isOther = origin.isSaidToSpeakHTTP2 && worker.origins.pool.known[origin] == .exchanges
        if version != .http1, !isOther, let codec = greeted ?? worker.protocols.client(channel, engine) {
            worker.metrics.count(.originStreamConnections)
            channel.share(codec, engine, from: worker.origins.pool)
        } else if version.takesStreams, worker.protocols.mayCarryMany(origin, engine) {
            worker.origins.pool.known.note(.exchanges, of: origin)
        }
        if let request { request.connection.leases.dialed(channel, request, first: first) }
        while let next = requests.removeFirst() { next.connection.leases.joined(channel, to: origin, next) }
        if request?.scope == .new { channel.codec.withdrawAfterOne() }
        // only now: this is the sole reference until a connection holds the channel
        winner = nil
    }

    private func fail(_ failure: LeaseFailure) {
        worker.metrics.count(failure.counter)
        if case .insecure = failure { worker.metrics.count(.originHandshakeFailures) }
        giveUpWinner()
        end()
        if let first = requests.removeFirst() {
            if failure.wantsAnotherProtocol, first.streamUse == .lastResort {
                first.connection.leases.leaseStream(origin, first)
            } else {
                first.connection.leases.failed(failure, first)
            }
        }
        while let next = requests.removeFirst() {
            // one client's limit of names does not affect the others
            if case .tooManyNames = failure {
                next.connection.leases.leaseAgain(origin, next)
            } else {
                next.connection.leases.failed(failure, next)
            }
        }
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        worker.loop.deferRelease(self)
        worker.origins.pool.dials.remove(self)
        worker.origins.pool.reaching.remove(self)
        connector.end(for: self)
    }

    private func giveUpWinner() {
        winner?.abandon()
        winner = nil
    }
}
