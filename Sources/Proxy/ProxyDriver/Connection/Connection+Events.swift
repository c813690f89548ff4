import EventLoop
internal import HTTPCodec
import ProxyCore

/// Events for the machine that come neither from its client nor from an HTTP/1 codec.
extension Connection {
    /// Records progress: a slow reader is not idle.
    func progressed(_ side: ConnectionSide, _ id: ExchangeID? = nil) {
        machine.touched(side, id, now: worker.loop.refreshNow())
    }

    // MARK: origins

    /// Handles an event on a shared stream. `settle` has to follow before another connection gets an event.
    func streamCame(_ event: ResponseEvent, _ bytes: Span<UInt8>, through codec: any StreamClient, _ id: ExchangeID) {
        machine.received(event, of: bytes, through: codec, for: id, now: worker.loop.now, &worker.out)
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

    /// Handles what happens to an exchange without bytes.
    func happened(_ event: ExchangeEvent, to id: ExchangeID) {
        guard !isClosed else { return }
        machine.happened(event, to: id, now: worker.loop.now, &worker.out)
        settle()
    }
}
