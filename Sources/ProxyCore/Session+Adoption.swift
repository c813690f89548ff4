internal import HTTPCodec
import Interception

/// Another generation of the configuration comes into force while the connection is open. An exchange under way, and a
/// tunnel that is relayed, keep the one that they began with; whatever comes after them is judged by the new one.
extension Session {
    public mutating func adopt(_ engine: Engine, _ clients: ClientPolicy, now: Int, _ out: inout Outbox) {
        self.now = now
        let isKept = source.isAdmitted(by: clients) && keepsTunnel(engine)
        switch phase {
        case .tunnel, .lingering, .closed: return
        case .authenticating, .collectingBody, .exchanging, .waiting:
            nextEngine = engine
            if !isKept { closesAfter = true }
        case .preface, .greeting, .securing, .awaitingRequest, .connecting, .peeking:
            guard isKept else {
                if connectTarget != nil { note(.note, "given up: the configuration that was reloaded has it no more") }
                return abandon(reset: false, &out)
            }
            if source.policy != nil { source.policy = clients }
            putInForce(engine)
            connectAnew(&out)
        }
    }

    private func keepsTunnel(_ new: Engine) -> Bool {
        guard let target = tunnelTarget ?? connectTarget else { return true }
        return new.keeps(
            target, isOpened: phase == .securing || tunnelTarget?.scheme == .https, for: user, since: engine)
    }

    mutating func putInForce(_ engine: Engine) {
        nextEngine = nil
        self.engine = engine
        // what is asked for in the tunnel takes the way that leads there now
        tunnelTarget.change { $0.route = engine.tunnelRoute(to: $0.host) }
        connectTarget.change { $0.route = engine.tunnelRoute(to: $0.host) }
    }
}

extension Engine {
    func tunnelRoute(to host: String) -> Route? { settings.routes.proxy(for: host).map { .tunnel($0) } }

    /// Whether a tunnel that came about by `old` might come about by this generation, too. Where it leads is judged with each
    /// request in it.
    /// - Parameters:
    ///   - isOpened: its TLS is.
    ///   - user: whose password opened it.
    func keeps(_ tunnel: Origin, isOpened: Bool, for user: String?, since old: Engine) -> Bool {
        if let ports = settings.connectPorts, !ports.contains(tunnel.port) { return false }
        if isOpened, !settings.interception.opens(tunnel.serverName ?? tunnel.host, port: tunnel.port) { return false }
        guard let users = settings.users else { return true }
        // a password that was changed has to be shown again
        guard let user, let hash = users.hash(of: user), !hash.isDecoy else { return false }
        return old.settings.users?.hash(of: user)?.text == hash.text
    }
}
