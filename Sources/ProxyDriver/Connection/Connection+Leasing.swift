import EventLoop
internal import HTTPCodec
import Metrics
import ProxyCore

/// How an exchange comes to a stream of its origin's.
extension Connection {
    /// Takes what stands; else waits for what is being made, or has one made.
    func lease(_ wanted: Origin, _ applicant: Applicant) {
        var applicant = applicant
        if applicant.version == .upgrade {
            if let offer = sharedStream(wanted, applicant) { return take(offer, applicant) }
            if !takesUpgrades(wanted, applicant) {
                applicant.version = .http1
                if worker.protocols.mayCarryMany(wanted, worker.settings.engine) { applicant.streamUse = .lastResort }
            }
        }
        if applicant.version != .upgrade, let channel = idle(wanted, applicant.scope) {
            worker.metrics.count(.leasedIdle)
            attach(channel, applicant.exchange, reused: true)
        } else if applicant.version == .any, let offer = sharedStream(wanted, applicant) {
            take(offer, applicant)
        } else {
            dial(wanted, applicant)
        }
    }

    private func take(_ offer: OriginPool.Offer, _ applicant: Applicant) {
        switch offer {
        case .stream(let stream):
            worker.metrics.count(.leasedShared)
            attach(stream, applicant.exchange, reused: true)
        case .wait(let channel): streams[applicant.exchange] = .probe(channel)
        }
    }

    /// An Upgrade goes in a stream where the origin took such the last time, or speaks nothing but HTTP/2; else as HTTP/1 has it.
    private func takesUpgrades(_ wanted: Origin, _ applicant: Applicant) -> Bool {
        guard worker.protocols.mayCarryMany(wanted, worker.settings.engine) else { return false }
        guard wanted.scheme == .https, applicant.streamUse != .only else { return true }
        return worker.origins.pool.known.terms(wanted).takesUpgrades
            && applicant.disappointments < Applicant.maxDisappointments
    }

    /// What may come to carry many is made once for all who come meanwhile. An origin of which nothing is known has them wait, too, but
    /// for the first handshake alone: who has many requests at once has them for an origin that it asked before, and those who
    /// do not pay for it once. One that speaks HTTP/1 has nobody wait.
    private func dial(_ wanted: Origin, _ applicant: Applicant) {
        let mayCarryMany =
            applicant.version.takesStreams && worker.origins.pool.known[wanted] != .exchanges
            && worker.protocols.mayCarryMany(wanted, worker.settings.engine)
        if mayCarryMany, applicant.disappointments < Applicant.maxDisappointments,
            let dial = worker.origins.pool.dials.joinable(wanted, now: worker.loop.now)
        {
            streams[applicant.exchange] = .dial(dial)
            return dial.join(applicant)
        }
        let dial = Dial(wanted, for: applicant, worker: worker)
        if mayCarryMany { worker.origins.pool.dials.add(dial) }
        streams[applicant.exchange] = .dial(dial)
        dial.start()
    }

    /// Whether somebody is there is known where a connection stands. Else one is made, for all who ask meanwhile: it is the tunnel's,
    /// or that of the first request inside.
    func reach(_ wanted: Origin, _ exchange: ExchangeID) {
        if worker.mayReuse(wanted), worker.origins.pool.reaches(wanted) {
            return machine.reached(exchange, now: worker.loop.now, &worker.out)
        }
        let applicant = Applicant(
            connection: self, exchange: exchange, scope: .new, version: .http1, asksPresence: true)
        if let dial = worker.origins.pool.reaching.joinable(wanted, now: worker.loop.now) {
            streams[exchange] = .dial(dial)
            return dial.join(applicant)
        }
        let dial = Dial(wanted, for: applicant, worker: worker)
        worker.origins.pool.reaching.add(dial)
        streams[exchange] = .dial(dial)
        dial.start()
    }

    /// The connection that it waited for stands, and is another's.
    func reached(_ exchange: ExchangeID) {
        streams.remove(exchange)
        machine.reached(exchange, now: worker.loop.now, &worker.out)
        settle()
    }

    /// The origin of the connection that it waits for is there.
    func probed(_ stream: OriginStream, _ id: ExchangeID) {
        worker.metrics.count(.leasedShared)
        attach(stream, id, reused: true)
        settle()
    }

    /// The origin does not speak HTTP/1, by which an Upgrade was to go.
    func leaseStream(_ wanted: Origin, _ applicant: Applicant) {
        streams.remove(applicant.exchange)
        var applicant = applicant
        applicant.version = .upgrade
        applicant.streamUse = .only
        lease(wanted, applicant)
        settle()
    }

    /// What it waited for had nothing for it.
    func leaseAgain(_ wanted: Origin, _ applicant: Applicant) {
        streams.remove(applicant.exchange)
        if applicant.asksPresence {
            reach(wanted, applicant.exchange)
            return settle()
        }
        guard applicant.version != .upgrade || wanted.scheme == .https && applicant.streamUse != .only else {
            return dialFailed(.failed("it is spoken to in HTTP/2, and took no Upgrade there"), for: applicant.exchange)
        }
        var applicant = applicant
        applicant.disappointments += 1
        lease(wanted, applicant)
        settle()
    }
}
