import Authorization
import Formats
import HTTPCodec
import Interception

/// Watches a session's end on its way to AM: what was decided for it is worth nothing from then on. It holds nothing up.
final class SessionEndWatch: Filter {
    private let servers: [AuthorizationServer]
    /// The request is there to end a session. Otherwise it is a login, which may put another one in the old one's place.
    private let isLogout: Bool
    /// AM takes it from something else than what the request shows: the session, or sessions, may be anybody's.
    private let endsAny: Bool
    /// So it does where the request shows none.
    private let endsHinted: Bool

    /// - Returns: nil for a request that ends none.
    /// - Parameter end: what the request says of that.
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

    /// Once more, for what was decided while AM was at it.
    private func headCame(_ response: ResponseHead, _ context: FilterContext) {
        // AM may tell a new session in the body alone; a step of a login too many costs one more question
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
    /// Sees to it that no decision outlives its session.
    static let registration = FilterRegistration(
        .classified, where: { $0.authorization.contains { $0.enforcement != nil } }
    ) { setup in
        let servers = setup.engine.settings.servers
        guard let watch = SessionEndWatch(servers, watching: setup.watched?.action, setup.sessionEnd) else { return }
        setup.add(watch)
    }
}
