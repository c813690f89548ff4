import Metrics
import ProxyCore

/// How an exchange comes to a stream of its origin's.
extension Connection {
    /// Takes what stands; else waits for what is being made, or has one made.
    func lease(_ wanted: Origin, _ applicant: Applicant) {
        let id = applicant.exchange
        if let channel = idle(wanted, applicant.scope) {
            worker.metrics.count(.leasedIdle)
            attach(channel, id, reused: true)
        } else if applicant.version == .any, let stream = sharedStream(wanted, applicant.scope, for: id) {
            worker.metrics.count(.leasedShared)
            attach(stream, id, reused: true)
        } else {
            dial(wanted, applicant)
        }
    }

    /// What may come to carry many is made once for all who come meanwhile. An origin of which nothing is known has them wait, too, but
    /// for the first handshake alone: who has many requests at once has them for an origin that it asked before, and those who
    /// do not pay for it once. One that speaks HTTP/1 has nobody wait.
    private func dial(_ wanted: Origin, _ applicant: Applicant) {
        let mayCarryMany =
            applicant.version == .any && worker.pool.known[wanted] != .exchanges
            && worker.protocols.mayCarryMany(wanted, worker.settings.engine)
        if mayCarryMany, applicant.disappointments < Applicant.maxDisappointments,
            let dial = worker.pool.dials.joinable(wanted, now: worker.loop.now)
        {
            streams[applicant.exchange] = .dial(dial)
            return dial.join(applicant)
        }
        let dial = Dial(wanted, for: applicant, worker: worker)
        if mayCarryMany { worker.pool.dials.add(dial) }
        streams[applicant.exchange] = .dial(dial)
        dial.start()
    }

    /// What it waited for had nothing for it.
    func leaseAgain(_ wanted: Origin, _ applicant: Applicant) {
        streams.remove(applicant.exchange)
        var applicant = applicant
        applicant.disappointments += 1
        lease(wanted, applicant)
        settle()
    }
}
