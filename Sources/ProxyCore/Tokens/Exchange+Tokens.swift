import Authorization
import HTTPCodec
import Interception

/// Where tokens concern an exchange: as one that carries them, or as one by which a client gets them or gives them up.
extension Exchange {
    /// - Returns: how much of the request's body has to be kept for that.
    mutating func planTokens() -> Int {
        guard let tokens = engine.tokens else { return 0 }
        // who shows something itself means it
        if let source = tokens.source(for: request), !request.fields.contains(.authorization), !isAuthorizing {
            addDetour(TokenDetour(source, detour?.provider(of: source.settings.server)))
            return engine.settings.limits.keptBody
        }
        if case .done(let found) = body.classifierStep, found.action == .revokeToken { return Classifier.bodyPeek }
        return 0
    }

    /// It is by such requests to AM that sessions and tokens are had: those that are there have no part in them.
    private var isAuthorizing: Bool {
        switch body.classifierStep {
        case .none: false
        case .needsBody: true
        case .done(let found):
            switch found.action {
            case .authorize?, .pushedAuthorization?, .startAuthenticate?, .authenticate?, .resumeAuthenticate?: true
            default: TokenWatch.concerns(found.action)
            }
        }
    }

    mutating func watchTokens() {
        guard let tokens = engine.tokens, TokenWatch.concerns(watched?.action) else { return }
        addDetour(TokenWatch(tokens))
    }

    mutating func addDetour(_ one: any Detour) {
        detour = DetourChain.of((detour.map { [$0] } ?? []) + [one])
    }
}
