import Authorization
import Formats
import HTTPCodec
import Interception

/// Watches a session's end on its way to AM: what was decided for it is worth nothing from then on. It holds nothing up.
final class SessionEndDetour: PassiveDetour {
    private let servers: [AuthorizationServer]
    /// The request is there to end a session. Otherwise it is a login, which may put another one in the old one's place.
    private let isLogout: Bool

    init(_ servers: [AuthorizationServer], isLogout: Bool) {
        self.servers = servers
        self.isLogout = isLogout
    }

    /// - Returns: nil for a request that ends none.
    convenience init?(_ servers: [AuthorizationServer], watching action: Action?) {
        switch action {
        case .logout, .endSession: self.init(servers, isLogout: true)
        case .startAuthenticate, .authenticate, .resumeAuthenticate: self.init(servers, isLogout: false)
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
    }

    private func end(_ head: RequestHead, _ context: DetourContext) {
        var tokens = servers.filter { $0.host == head.host }.flatMap { SessionSource.tokens(in: head, $0) }
        if isLogout, context.isWhole, let token = (try? JSONValue(parsing: context.body))?["tokenId"]?.text {
            tokens.append(token)
        }
        context.endSessions(Set(tokens))
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
