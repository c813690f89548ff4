import EventLoop
import ProxyCore

/// Makes one connection to an origin: asks the configuration, resolves, tries one address after another, and connects to
/// the very address that was checked.
final class Dial {
    let origin: Origin
    private let worker: Worker
    private unowned(unsafe) var connection: Connection?
    private var addresses: [SocketAddress] = []
    private var next = 0
    private var attempt: OriginChannel?
    private var lastFailure = LeaseFailure.unresolvable("the name has no address")
    private var ticket: UInt64?
    /// When to go on to the next address; `Int.max` while there is none. One that does not answer leaves time for the
    /// others.
    private(set) var deadline = Int.max

    init(_ origin: Origin, for connection: Connection, worker: Worker) {
        self.origin = origin
        self.connection = connection
        self.worker = worker
    }

    func start() {
        let decision = worker.settings.destinations.permits(host: origin.host, port: origin.port)
        guard decision.isPermitted else { return fail(.forbidden(decision.reason)) }
        if let known = Resolver.immediate(origin.host, port: origin.port) {
            addresses = known
            tryNext()
        } else {
            ticket = worker.resolve(origin, for: self)
        }
    }

    func cancel() {
        connection = nil
        if let ticket { worker.forget(ticket) }
        attempt?.dial = nil
        attempt?.close()
        attempt = nil
        worker.loop.bury(self)
    }

    func resolved(_ answer: Resolver.Answer) {
        ticket = nil
        if let words = answer.failure { return fail(.unresolvable(words)) }
        addresses = answer.addresses
        tryNext()
    }

    private func tryNext() {
        while next < addresses.count {
            let address = addresses[next]
            next += 1
            guard let checked = IPAddress(bytes: address.address) else { continue }
            let decision = worker.settings.destinations.permits(host: origin.host, port: origin.port, address: checked)
            guard decision.isPermitted else {
                lastFailure = .forbidden(decision.reason)
                continue
            }
            if worker.isOwn(address) {
                lastFailure = .loop
                continue
            }
            do {
                let dialed = try Dialer.connect(address, on: worker.loop)
                let inProgress = dialed.inProgress
                let channel = try OriginChannel(
                    loop: worker.loop, origin: origin, descriptor: dialed.take(), connecting: inProgress)
                attempt = channel
                if inProgress {
                    channel.dial = self
                    deadline =
                        next < addresses.count ? worker.loop.now + worker.connectTimeout / addresses.count : .max
                    return
                }
                return succeed(channel)
            } catch {
                lastFailure = .refused(error.reason)
            }
        }
        fail(lastFailure)
    }

    func connected(_ channel: OriginChannel, _ error: SystemError?) {
        guard channel === attempt else { return }
        if let error {
            lastFailure = .refused(error.reason)
            return giveUp(channel)
        }
        if worker.isOwn(channel, addresses[next - 1]) {
            lastFailure = .loop
            return giveUp(channel)
        }
        succeed(channel)
    }

    /// The address has had its time: on to the next one.
    func goOn() {
        guard let attempt else { return }
        lastFailure = .timedOut
        giveUp(attempt)
    }

    private func giveUp(_ channel: OriginChannel) {
        channel.dial = nil
        channel.close()
        attempt = nil
        deadline = .max
        tryNext()
    }

    private func succeed(_ channel: OriginChannel) {
        channel.dial = nil
        worker.loop.bury(self)
        connection?.dialed(channel)
        // only now: until the connection holds the channel, this is the one reference to it
        attempt = nil
    }

    private func fail(_ failure: LeaseFailure) {
        worker.loop.bury(self)
        connection?.dialFailed(failure)
    }
}
