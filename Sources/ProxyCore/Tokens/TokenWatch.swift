import Authorization
import HTTPCodec
import Interception

/// Looks on while a client deals with AM about its tokens: what it is granted goes along with its requests from there on, and
/// what it gives up does no more.
final class TokenWatch: PassiveDetour {
    private let policy: TokenPolicy
    /// Its answer may have tokens for the client.
    private var isGrant = false
    private var hasReplaced = false

    init(_ policy: TokenPolicy) { self.policy = policy }

    /// Actions by which clients get tokens and give them up.
    static func concerns(_ action: Action?) -> Bool {
        switch action {
        case .exchangeToken?, .refreshToken?, .revokeToken?, .logout?, .endSession?: true
        default: false
        }
    }

    var maxResponseBytes: Int { ObservedExchange.largestAnswer }

    /// A refresh token that Usher has spent on the client's behalf is good for nothing any more: the newest goes out for it.
    func prepare(_ context: DetourContext, _ notes: inout [ExchangeMoment]) -> DetourOrder? {
        guard !hasReplaced, context.isWhole else { return nil }
        for source in policy.learned {
            guard let (exchange, key) = observe(source, context),
                let grant = context.tokens.store?.change({ $0.last(key) }), let body = exchange.renewed(by: grant)
            else { continue }
            hasReplaced = true
            notes.append(
                .token(
                    resource: source.name,
                    "the client's refresh token was spent here, and the one that came for it takes its place"))
            return .replace(context.request, body: body)
        }
        return nil
    }

    /// What a client gives up goes along no more, whatever AM says to that.
    func edit(_ head: inout RequestHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        isGrant = false
        for source in policy.sources where source.settings.manner != .clientCredentials {
            guard let (exchange, key) = observe(source, context) else { continue }
            if case .grant = exchange.kind {
                isGrant = true
                continue
            }
            let gone = context.tokens.store?.change {
                $0.forget { $0.source == source && $0.client == key.client && exchange.ends($1) }
            }
            if gone?.isEmpty == false {
                notes.append(.token(resource: source.name, "the client gives its token up, and it is forgotten"))
            }
        }
    }

    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? {
        isGrant && !policy.learned.isEmpty && (200..<300).contains(response.status)
            ? ObservedExchange.largestAnswer : nil
    }

    func consider(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder {
        for source in policy.learned {
            guard let (exchange, key) = observe(source, context),
                let grant = exchange.grant(response.head, body: response.body, for: source, now: context.seconds)
            else { continue }
            notes.append(.token(resource: source.name, "the client's own token goes along from here on"))
            context.tokens.store?.change { $0.put(grant, key, context.time) }
        }
        return .deliver(response)
    }

    private func observe(_ source: TokenSource, _ context: DetourContext) -> (ObservedExchange, TokenKey)? {
        guard let client = context.tokens.sender.client(source.settings.naming, context.request),
            let exchange = ObservedExchange(
                context.sent, body: context.isWhole ? context.body : [], context.tokens.classification,
                at: source.settings.server)
        else { return nil }
        return (exchange, TokenKey(source, client: client))
    }

    func unheld(_ response: ResponseHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {
        guard let source = policy.learned.first else { return }
        notes.append(
            .token(resource: source.name, "the answer of the token endpoint is larger than is looked through"))
    }
}
