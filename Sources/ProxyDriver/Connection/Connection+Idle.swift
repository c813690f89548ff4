import EventLoop
import ProxyCore

/// Idle connections to origins: those of the loop, and those that carry this client's identity.
extension Connection {
    /// A connection that stands already.
    func idle(_ wanted: Origin, _ scope: LeaseScope) -> OriginChannel? {
        guard scope != .new, worker.mayReuse(wanted) else { return nil }
        if let channel = bound?.take(wanted.poolKey) { return channel }
        return scope == .own ? nil : worker.origins.pool.take(wanted.poolKey)
    }

    /// A stream on a connection that carries others' already. What goes out once alone goes by one that nobody has used.
    func sharedStream(_ wanted: Origin, _ applicant: Applicant) -> OriginPool.Offer? {
        guard applicant.version.takesStreams, applicant.scope == .any || applicant.scope == .heard,
            worker.mayReuse(wanted)
        else { return nil }
        return worker.origins.pool.lend(wanted.poolKey, to: applicant)
    }

    func keep(_ channel: OriginChannel, _ isReusable: Bool) {
        guard isReusable else {
            // whoever ended in order before has said all that there is
            return channel.isWithinLoop && !channel.hasFinished ? channel.reset() : channel.leave()
        }
        guard channel.isBound else { return worker.origins.pool.put(channel, now: worker.loop.now) }
        let bound = bound ?? BoundChannels(pool: worker.origins.pool)
        self.bound = bound
        bound.put(channel)
    }

    /// Idle connections that carry the client's identity are given up.
    func unbind() { bound?.closeAll() }

    /// Another generation of the configuration is in force.
    func adopt(_ settings: WorkerSettings) {
        unbind()
        machine.adopt(settings.engine, settings.clients, now: worker.loop.now, &worker.out)
        settle()
    }
}
