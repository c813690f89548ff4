import HTTP1
internal import HTTPCodec
import Interception
internal import Passwords

/// Adopts another generation of the configuration while the connection is open. An exchange under way and a relayed
/// tunnel keep the generation they began with; everything later uses the new one.
extension ClientConnection {
    public mutating func adopt(_ engine: Engine, _ clients: ClientPolicy, now: Int, _ out: inout Outbox) {
        out.now = now
        let isKept = context.source.isAdmitted(by: clients) && keepsTunnel(engine)
        switch stage {
        case .tunnel, .lingering, .closed: return
        case .serving where codec.isMultiplexed:
            putInForce(engine)
            if !isKept { leaveStreams(engine, &out) }
        case .serving where !awaitsRequest:
            next = NextGeneration(engine: engine, isKept: isKept)
            if !isKept { codec.endAfterThis() }
        case .preface, .awaitingHello, .securing, .serving, .connect:
            guard isKept else {
                if tunnel.isUnderWay { exchanges.current?.exchange.log.tell(.noLongerPermitted, now) }
                return close(reset: false, &out)
            }
            if context.source.policy != nil { context.source.policy = clients }
            putInForce(engine)
            if case .connect = stage { tellTunnel(.adopted, &out) }
        }
    }

    /// Judges a tunnel that is about to begin by the newest rules, even if they came during the password check.
    /// - Returns: false when the rules do not admit it.
    mutating func mayBegin(_ tunnel: Origin) -> Bool {
        guard let next else { return true }
        let old = engine
        putInForce(next.engine)
        return next.isKept && engine.keeps(tunnel, isOpened: false, for: context.user, since: old)
    }

    private func keepsTunnel(_ new: Engine) -> Bool {
        guard let target = tunnel.isUnderWay ? tunnel.target : context.tunnel else { return true }
        let isOpened = tunnel.isUnderWay ? tunnel.state == .securing : target.scheme == .https
        return new.keeps(target, isOpened: isOpened, for: context.user, since: engine)
    }

    mutating func putInForce(_ engine: Engine) {
        next = nil
        self.engine = engine
        exchanges.adopt(engine)
        // requests in the tunnel take the new route to its target
        context.tunnel.change { $0.route = engine.tunnelRoute(to: $0.host) }
        tunnel.reroute(engine)
    }
}

extension Engine {
    func tunnelRoute(to host: String) -> Route? { settings.routes.proxy(for: host).map { .tunnel($0) } }

    /// Whether this generation, too, admits a tunnel that `old` admitted. Each request in the tunnel checks its own
    /// destination.
    /// - Parameters:
    ///   - isOpened: the tunnel's TLS is decrypted.
    ///   - user: the user that opened the tunnel.
    func keeps(_ tunnel: Origin, isOpened: Bool, for user: String?, since old: Engine) -> Bool {
        if let ports = settings.connectPorts, !ports.contains(tunnel.port) { return false }
        if isOpened, !settings.interception.opens(tunnel.serverName ?? tunnel.host, port: tunnel.port) { return false }
        guard let users = settings.users else { return true }
        // a changed password requires a new login
        guard let user, let hash = users.hash(of: user), !hash.isDecoy else { return false }
        return old.settings.users?.hash(of: user)?.text == hash.text
    }
}
