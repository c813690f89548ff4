import HTTP1
internal import HTTPCodec
import Interception
internal import Passwords

/// Adopts another generation of the configuration while the connection is open. An exchange under way and a relayed
/// tunnel keep the generation they began with; everything later uses the new one.
extension ClientConnection {
    public mutating func adopt(_ engine: Engine, _ clients: ClientPolicy, now: Int, _ out: inout CommandBuffer) {
        out.now = now
        let isKept = http.context.source.isAdmitted(by: clients) && keepsTunnel(engine)
        switch stage.state {
        case .tunnel, .lingering, .closed: return
        case .serving where http.carriesMany:
            http.putInForce(engine)
            guard !isKept else { return }
            http.leaveStreams(engine, &out)
            follow(&out)
        case .serving where !awaitsRequest:
            http.next = HTTPConnection.NextGeneration(engine: engine, isKept: isKept)
            if !isKept { http.codec.endAfterThis() }
        case .preface, .awaitingHello, .securing, .serving, .connect:
            guard isKept else {
                if tunnel.isUnderWay { http.exchanges.current?.exchange.log.tell(.noLongerPermitted, now) }
                return close(reset: false, &out)
            }
            if http.context.source.policy != nil { http.context.source.policy = clients }
            http.putInForce(engine)
            tunnel.reroute(engine)
            if case .connect = stage.state { tellTunnel(.adopted, &out) }
        }
    }

    /// Judges a tunnel that is about to begin by the newest rules, even if they came during the password check.
    /// - Returns: false when the rules do not admit it.
    mutating func mayBegin(_ tunnel: Origin) -> Bool {
        guard let next = http.next else { return true }
        let old = http.engine
        http.putInForce(next.engine)
        return next.isKept && http.context.keeps(tunnel, isOpened: false, by: next.engine, since: old)
    }

    private func keepsTunnel(_ new: Engine) -> Bool {
        guard let target = tunnel.isUnderWay ? tunnel.target : http.context.tunnel else { return true }
        let isOpened = tunnel.isUnderWay ? tunnel.state == .securing : target.scheme == .https
        return http.context.keeps(target, isOpened: isOpened, by: new, since: http.engine)
    }
}

extension ClientContext {
    /// The same as `Engine.keeps` for this client's tunnel.
    fileprivate func keeps(_ tunnel: Origin, isOpened: Bool, by new: Engine, since old: Engine) -> Bool {
        // where passwords were asked for, only the key of a test session admits a tunnel without a user
        let isByKey = testSession != nil && user == nil && old.settings.users != nil
        return new.keeps(tunnel, isOpened: isOpened, for: user, isByKey: isByKey, since: old)
    }
}

extension Engine {
    func tunnelRoute(to host: String) -> Route? { settings.routes.proxy(for: host).map { .tunnel($0) } }

    /// Whether this generation, too, admits a tunnel that `old` admitted. Each request in the tunnel checks its own
    /// destination.
    /// - Parameters:
    ///   - isOpened: the tunnel's TLS is decrypted.
    ///   - user: the user that opened the tunnel.
    ///   - isByKey: the key of a test session took the place of a password.
    func keeps(
        _ tunnel: Origin, isOpened: Bool, for user: String?, isByKey: Bool = false, since old: Engine
    ) -> Bool {
        if let ports = settings.routes.connectPorts, !ports.contains(tunnel.port) { return false }
        if isOpened, !settings.interception.opens(tunnel.serverName ?? tunnel.host, port: tunnel.port) { return false }
        guard let users = settings.users, !isByKey else { return true }
        // a changed password requires a new login
        guard let user, let hash = users.hash(of: user), !hash.isDecoy else { return false }
        return old.settings.users?.hash(of: user)?.text == hash.text
    }
}
