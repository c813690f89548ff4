import Authorization
import HTTPCodec
import Interception

/// Drops AM's decisions for a session when a request ends it. It never delays the request.
final class SessionEndWatch: Filter {
    private let servers: [AuthorizationServer]
    /// The request ends a session. If false, it is a login, which may replace one.
    private let isLogout: Bool
    /// AM takes the session from elsewhere than the request's fields, so any session may end.
    private let endsAny: Bool
    /// The same, but only if the request carries no session.
    private let endsHinted: Bool

    /// - Returns: nil for a request that ends no session.
    /// - Parameter end: the way in which the request ends one.
    init?(_ servers: [AuthorizationServer], watching action: Action?, _ end: Classifier.SessionEnd?) {
        self.servers = servers
        endsAny = end == .any
        endsHinted = action == .endSession
        switch action {
        case .logout, .endSession: isLogout = true
        case .startAuthenticate, .authenticate, .resumeAuthenticate: isLogout = false
        default: return nil
        }
    }

    func request(_ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext) -> FilterAction {
        if case .leaving = step, isLogout { end(head, context) }
        return .proceed
    }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        if case .head = step { headCame(head, context) }
        return .proceed
    }

    /// Drops decisions again that were made while AM handled the request.
    private func headCame(_ response: ResponseHead, _ context: FilterContext) {
        // AM may send a new session in the body alone; a needless end costs one more question
        if isLogout || response.status == 200 { end(context.sent, context) }
        let isAny = endsAny || endsHinted && sessions(in: context.sent, context).isEmpty
        if isAny, (200..<400).contains(response.status) { context.endAllSessions() }
    }

    private func end(_ head: RequestHead, _ context: FilterContext) { context.endSessions(sessions(in: head, context)) }

    private func sessions(in head: RequestHead, _ context: FilterContext) -> Set<String> {
        let body = isLogout && context.isWhole ? context.body : []
        return servers.filter { $0.host == head.host }.reduce([]) { $0.union($1.sessions(in: head, body: body)) }
    }
}

extension SessionEndWatch {
    /// Adds the filter, so that no decision outlives its session.
    static let registration = FilterRegistration(
        .classified, where: { $0.authorization.contains { $0.enforcement != nil } }
    ) { setup in
        let servers = setup.engine.settings.servers
        guard let watch = SessionEndWatch(servers, watching: setup.watched?.action, setup.sessionEnd) else { return }
        setup.add(watch)
    }
}
