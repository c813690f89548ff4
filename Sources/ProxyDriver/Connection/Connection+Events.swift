import EventLoop
internal import HTTPCodec
import Interception
internal import Passwords
import ProxyCore

/// What the machine is told that comes neither from its client nor from the codec of HTTP/1.
extension Connection {
    /// A slow reader is not an idle one.
    func progressed(_ side: Leg, _ id: ExchangeID? = nil) { machine.touched(side, id, now: worker.loop.refreshNow()) }

    // MARK: an origin

    /// Something came on a stream beside others. `settle` has to follow, before anything is told to another connection.
    func streamCame(_ event: ResponseEvent, _ bytes: Span<UInt8>, through codec: any StreamClient, _ id: ExchangeID) {
        machine.received(event, of: bytes, through: codec, for: id, now: worker.loop.now, &worker.out)
    }

    func streamBroke(_ fault: HTTPFault, _ id: ExchangeID) {
        machine.originBroke(fault, for: id, now: worker.loop.now, &worker.out)
        settle()
    }

    func streamEnded(_ id: ExchangeID, _ ending: StreamEnding) {
        machine.streamEnded(for: id, ending, now: worker.loop.now, &worker.out)
        settle()
    }

    /// Writing to the origin failed. What it said before is still read; what the client sends goes nowhere.
    func originLost(_ id: ExchangeID) {
        machine.originLost(id, now: worker.loop.now, &worker.out)
        settle()
    }

    func originDrained(_ id: ExchangeID) {
        guard let stream = leases.streams.stream(id) else { return }
        machine.queuedForOrigin(stream.queuedBytes, of: id, now: worker.loop.now, &worker.out)
        settle(of: id)
    }

    // MARK: others

    /// A password was checked that took its time.
    func authenticated(_ verdict: PasswordVerdict, _ id: ExchangeID) {
        guard !isClosed else { return }
        machine.authenticated(verdict, id, now: worker.loop.now, &worker.out)
        settle()
    }

    /// Code of others has worked on a message.
    func intercepted(_ answer: SwiftAnswer, _ id: ExchangeID) {
        guard !isClosed else { return }
        machine.intercepted(answer, id, now: worker.loop.now, &worker.out)
        settle()
    }

    /// The turn of a request that waits at a limit has come.
    func turnCame(_ id: ExchangeID) {
        guard !isClosed else { return }
        machine.turnCame(id, now: worker.loop.now, &worker.out)
        settle()
    }

    /// A person has spoken to a step-up.
    func personSpoke(_ id: ExchangeID) {
        guard !isClosed else { return }
        machine.personSpoke(id, now: worker.loop.now, &worker.out)
        settle()
    }

    /// What a request waits for that another one makes has come to something.
    func flightCame(_ id: ExchangeID) {
        guard !isClosed else { return }
        machine.flightCame(id, now: worker.loop.now, &worker.out)
        settle()
    }
}
