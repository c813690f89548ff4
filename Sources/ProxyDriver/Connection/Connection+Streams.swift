import EventLoop
internal import HTTPCodec
import Metrics
import ProxyCore

/// What happens on streams of origins' connections that carry many exchanges.
extension Connection {
    /// `settle` has to follow, before anything is told to another connection.
    func streamCame(_ event: ResponseEvent, _ bytes: Span<UInt8>, through leg: any StreamClient, _ id: ExchangeID) {
        machine.received(event, of: bytes, through: leg, for: id, now: worker.loop.now, &worker.out)
    }

    func streamBroke(_ fault: HTTPFault, _ id: ExchangeID) {
        machine.originBroke(fault, for: id, now: worker.loop.now, &worker.out)
        settle()
    }

    func streamEnded(_ id: ExchangeID, _ ending: StreamEnding) {
        machine.streamEnded(for: id, ending, now: worker.loop.now, &worker.out)
        settle()
    }

    /// Makes the connection that a tunnel in a stream of this one has.
    func carry(_ id: ExchangeID) {
        do {
            let channel = worker.connect(try machine.carried(now: worker.loop.now))
            channel.connection = self
            channel.exchange = id
            streams[id] = .stream(OriginStream(channel: channel, id: nil))
            channel.startReading()
        } catch {
            machine.notCarried(error, id, now: worker.loop.now, &worker.out)
        }
    }

    /// A connection that can carry many exchanges stands, and others have theirs on it.
    func joined(_ channel: OriginChannel, _ shared: SharedStreams, _ applicant: Applicant) {
        if applicant.version == .upgrade { return awaitTerms(shared, on: channel, applicant) }
        guard let stream = shared.lend(to: self, applicant.exchange, isFirst: true) else {
            return leaseAgain(channel.origin, applicant)
        }
        worker.metrics.count(.leasedShared)
        attach(OriginStream(channel: channel, id: stream), applicant.exchange, reused: false)
        settle()
    }

    /// A connection that can carry many exchanges stands.
    func dialed(_ channel: OriginChannel, _ shared: SharedStreams, _ applicant: Applicant, first: [UInt8]) {
        let id = applicant.exchange
        if applicant.version == .upgrade {
            awaitTerms(shared, on: channel, applicant)
            return shared.begin(with: first)
        }
        guard let stream = shared.lend(to: self, id, isFirst: true) else {
            shared.withdraw()
            return dialFailed(.failed("the origin has no room for a stream"), for: id)
        }
        attach(OriginStream(channel: channel, id: stream), id, reused: false)
        settle()
        shared.begin(with: first)
    }

    /// Whether the origin takes an Upgrade in a stream it says first of all.
    private func awaitTerms(_ shared: SharedStreams, on channel: OriginChannel, _ applicant: Applicant) {
        streams[applicant.exchange] = .probe(channel)
        shared.awaitTerms(applicant)
    }
}
