import Authorization
import HTTPCodec
import Interception

/// Shows a name and a password to an origin that asks for them (RFC 7617), once in an exchange.
final class BasicLoginDetour: Detour {
    private let credentials: String
    private let interceptor: String
    private var isAsked = false

    /// More of an answer than this is delivered, whatever it asks for.
    private static let largestChallenge = 64 << 10

    init(_ challenge: BasicChallenge, interceptor: String) {
        credentials = challenge.credentials
        self.interceptor = interceptor
    }

    var isActive: Bool { false }
    var keepsResponse: Bool { false }
    var limit: Int? { nil }
    var keptBytes: Int { 0 }
    var maxResponseBytes: Int { Self.largestChallenge }
    var cookieLines: [String] { [] }

    func prepare(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? { nil }

    func edit(_ head: inout RequestHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        if isAsked { head.fields.set("Authorization", credentials) }
    }

    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? {
        !isAsked && Self.asks(response) ? Self.largestChallenge : nil
    }

    func consider(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder {
        guard !isAsked, Self.asks(response.head) else { return .deliver(response) }
        guard context.isWhole else {
            notes.append(
                .login(
                    interceptor: interceptor, "the request's body was not kept, so it is not sent again with a password"
                ))
            return .deliver(response)
        }
        isAsked = true
        notes.append(
            .login(interceptor: interceptor, "the origin asks for a password (Basic); the request is sent with it"))
        return .again(response)
    }

    private static func asks(_ response: ResponseHead) -> Bool {
        response.status == 401 && response.fields.challenges(scheme: "Basic")
    }

    func called(_ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder {
        .deliver(response)
    }

    func failed(_ reason: String, _ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? { nil }
    func woke(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? { nil }
    func answered(_ response: ResponseHead, _ context: DetourContext) {}
    func delivers(_ status: Int) {}
    func abandon() {}
}
