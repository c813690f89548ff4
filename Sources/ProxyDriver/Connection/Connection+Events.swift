import EventLoop
internal import HTTPCodec
import Interception
internal import Passwords
import ProxyCore

/// Events for the machine that come neither from its client nor from an HTTP/1 codec.
extension Connection {
    /// Records progress: a slow reader is not idle.
    func progressed(_ side: Leg, _ id: ExchangeID? = nil) { machine.touched(side, id, now: worker.loop.refreshNow()) }

    // MARK: origins

    /// Handles an event on a shared stream. `settle` has to follow before another connection gets an event.
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

    /// Handles a failed write to the origin. Earlier input from the origin is still read; further client data is dropped.
    func originLost(_ id: ExchangeID) {
        machine.originLost(id, now: worker.loop.now, &worker.out)
        settle()
    }

    func originDrained(_ id: ExchangeID) {
        guard let stream = leases.streams.stream(id) else { return }
        machine.queuedForOrigin(stream.queuedBytes, of: id, now: worker.loop.now, &worker.out)
        settle(of: id)
    }

    // MARK: other results

    /// Handles the result of a slow password check.
    func authenticated(_ verdict: PasswordVerdict, _ id: ExchangeID) {
        guard !isClosed else { return }
        machine.authenticated(verdict, id, now: worker.loop.now, &worker.out)
        settle()
    }

    /// Handles the result of an interceptor in Swift.
    func intercepted(_ answer: SwiftAnswer, _ id: ExchangeID) {
        guard !isClosed else { return }
        machine.intercepted(answer, id, now: worker.loop.now, &worker.out)
        settle()
    }

    /// Continues a request that waited for another one, at a limit, or for a person.
    func ticketCame(_ ticket: WaitingTicket, _ id: ExchangeID) {
        guard !isClosed else { return }
        machine.ticketCame(ticket, id, now: worker.loop.now, &worker.out)
        settle()
    }
}
