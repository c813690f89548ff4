internal import Addresses
import EventLoop
import Glibc
import Metrics
internal import Names
import ProxyCore

/// Connects to a host: resolves its addresses and races them. Each address is checked before it is used.
struct HostConnector {
    enum Outcome {
        case goesOn
        case connected(OriginChannel)
        case failed(LeaseFailure)
    }

    private struct Attempt {
        let channel: OriginChannel
        let address: IPAddress
    }

    private let origin: Origin
    private let hop: (host: String, port: UInt16)
    private let worker: Worker
    private var race = AddressRace()
    private var attempts: [Attempt] = []
    private var alarm: Alarm?
    private var failure = LeaseFailure.unresolvable("the name has no address")
    private var awaitsNames = false
    private var hasAddress = false
    /// True once connected or cancelled.
    private var isOver = false

    init(to origin: Origin, _ worker: Worker) {
        self.origin = origin
        self.worker = worker
        hop = origin.hop
    }

    /// True while no address is known.
    var isResolving: Bool { awaitsNames && !hasAddress }

    /// - Parameters:
    /// - dial: is told about addresses, connections and timers.
    /// - client: the client that a DNS query is counted for.
    mutating func start(for dial: Dial, of client: AddressBlock?) -> Outcome {
        if let known = NameService.immediate(hop.host, port: hop.port) {
            return receive(known, isComplete: true, for: dial)
        }
        guard !IPAddress.isLookalike(hop.host) else {
            return .failed(.unresolvable("it is a number, but no address"))
        }
        switch worker.origins.names.find(hop.host, for: dial, of: client) {
        case .known(let addresses, let isComplete):
            worker.metrics.count(.namesKnown)
            awaitsNames = !isComplete
            return receive(addresses, isComplete: isComplete, for: dial)
        case .failed(let failure):
            worker.metrics.count(.namesFailed)
            return .failed(Self.words(failure))
        case .unasked, .waiting:
            awaitsNames = true
            worker.metrics.count(.namesAsked)
            return .goesOn
        }
    }

    // MARK: addresses

    mutating func resolved(_ answer: NameAnswer, for dial: Dial) -> Outcome {
        awaitsNames = !answer.isComplete
        if let failure = answer.failure {
            worker.metrics.count(.namesFailed)
            return .failed(Self.words(failure))
        }
        return receive(answer.addresses, isComplete: answer.isComplete, for: dial)
    }

    private static func words(_ failure: NameFailure) -> LeaseFailure {
        switch failure {
        case .unknown(let words, let rcode): .unresolvable(words, rcode: rcode)
        case .timedOut: .unresolved
        case .overloaded: .overloaded
        case .tooMany: .tooManyNames
        }
    }

    private mutating func receive(_ addresses: [SocketAddress], isComplete: Bool, for dial: Dial) -> Outcome {
        hasAddress = true
        let targets = addresses.map { SocketAddress(address: $0.address, port: hop.port, scope: $0.scope) }
        race.add(targets, isComplete: isComplete, now: worker.loop.now)
        return goOn(for: dial)
    }

    /// Starts the attempts that are due.
    mutating func goOn(for dial: Dial) -> Outcome {
        while !isOver {
            switch race.next(now: worker.loop.now) {
            case .connect(let address):
                if let channel = attempt(address, for: dial) { return .connected(channel) }
            case .wait(let time):
                if let time { ring(dial, at: time) }
                return .goesOn
            case .exhausted: return .failed(failure)
            }
        }
        return .goesOn
    }

    private mutating func ring(_ dial: Dial, at time: Int) {
        if alarm == nil { alarm = try? Alarm(loop: worker.loop) { [unowned dial] in dial.rang() } }
        // if no timer can be created, the next address waits for this one to fail
        _ = alarm?.set(milliseconds: time - worker.loop.now)
    }

    // MARK: attempts

    /// - Returns: the connection if it is established at once.
    private mutating func attempt(_ address: SocketAddress, for dial: Dial) -> OriginChannel? {
        guard let checked = IPAddress(bytes: address.address) else {
            race.failed(now: worker.loop.now)
            return nil
        }
        if let reason = worker.settings.destinations.refusal(of: origin, at: checked) {
            lose(.forbidden(reason))
            return nil
        }
        if worker.origins.isOwn(checked, port: address.port) {
            lose(.loop)
            return nil
        }
        do {
            let dialed = try Dialer.connect(address, on: worker.loop)
            let inProgress = dialed.inProgress
            let channel = try OriginChannel(
                loop: worker.loop, security: worker.security, origin: origin.poolKey, descriptor: dialed.take(),
                connecting: inProgress)
            channel.dial = dial
            attempts.append(Attempt(channel: channel, address: checked))
            return inProgress ? nil : outcome(of: channel, nil)
        } catch {
            lose(error)
            return nil
        }
    }

    /// Handles the result of an attempt.
    mutating func connected(_ channel: OriginChannel, _ error: SystemError?, for dial: Dial) -> Outcome {
        if let winner = outcome(of: channel, error) { .connected(winner) } else { goOn(for: dial) }
    }

    /// - Returns: the established connection, which nobody else holds.
    private mutating func outcome(of channel: OriginChannel, _ error: SystemError?) -> OriginChannel? {
        guard let index = attempts.firstIndex(where: { $0.channel === channel }) else { return nil }
        worker.loop.refreshNow()
        let attempt = attempts.remove(at: index)
        if error == nil, !worker.origins.isOwn(attempt.channel, attempt.address, port: hop.port) {
            giveUpAttempts()
            isOver = true
            return attempt.channel
        }
        attempt.channel.abandon()
        if let error { lose(error) } else { lose(.loop) }
        return nil
    }

    private mutating func lose(_ error: SystemError) {
        // an address family that this machine lacks says nothing about the host
        let isTelling = error.code != ENETUNREACH && error.code != EAFNOSUPPORT
        switch failure {
        case .unresolvable: failure = .refused(error.reason)
        case .refused where isTelling: failure = .refused(error.reason)
        // the reason why an address was not tried is more useful
        default: break
        }
        race.failed(now: worker.loop.now)
    }

    private mutating func lose(_ failure: LeaseFailure) {
        self.failure = failure
        race.failed(now: worker.loop.now)
    }

    // MARK: the end

    mutating func end(for dial: Dial) {
        isOver = true
        if awaitsNames { worker.origins.names.forget(hop.host, dial) }
        giveUpAttempts()
        alarm?.cancel()
        alarm = nil
    }

    private mutating func giveUpAttempts() {
        for attempt in attempts { attempt.channel.abandon() }
        attempts = []
    }
}
