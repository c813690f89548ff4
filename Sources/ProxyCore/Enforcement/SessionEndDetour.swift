import Authorization
import Formats
import HTTPCodec
import Interception

/// Watches a session's end on its way to AM: what was decided for it is worth nothing from then on. It holds nothing up.
final class SessionEndDetour: PassiveDetour {
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

    var maxResponseBytes: Int { Classifier.bodyPeek }

    func prepare(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? { nil }

    func edit(_ head: inout RequestHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        if isLogout { end(head, context) }
    }

    /// Once more, for what was decided while AM was at it.
    func answered(_ response: inout ResponseHead, _ context: DetourContext) {
        // AM may tell a new session in the body alone; a step of a login too many costs one more question
        if isLogout || response.status == 200 { end(context.sent, context) }
        let isAny = endsAny || endsHinted && sessions(in: context.sent, context).isEmpty
        if isAny, (200..<400).contains(response.status) { context.endAllSessions() }
    }

    private func end(_ head: RequestHead, _ context: DetourContext) { context.endSessions(sessions(in: head, context)) }

    private func sessions(in head: RequestHead, _ context: DetourContext) -> Set<String> {
        let body = isLogout && context.isWhole ? context.body : []
        return servers.filter { $0.host == head.host }.reduce([]) { $0.union($1.sessions(in: head, body: body)) }
    }

    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? { nil }
    func consider(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder { .deliver(response) }
    func called(_ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder {
        .deliver(response)
    }
    func failed(_ reason: String, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? { nil }
    func woke(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? { nil }
    func unheld(_ response: ResponseHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {}
    func delivers(_ status: Int) {}
    func abandon() {}
}
