public import HTTPCodec
internal import Interception

/// An exchange whose response contains a possible advice.
public struct AdvisedExchange: Sendable {
    /// The request as the client sent it.
    public var request: RequestHead
    /// The request as the origin server received it.
    public var sent: RequestHead
    public var body: [UInt8]
    /// True if the whole request body was buffered.
    public var bodyComplete: Bool
    public var resource: AuthorizationPolicy.Resource
    /// The status of the response.
    public var status: Int

    public init(
        request: RequestHead, sent: RequestHead, body: [UInt8], bodyComplete: Bool,
        resource: AuthorizationPolicy.Resource, status: Int
    ) {
        self.request = request
        self.sent = sent
        self.body = body
        self.bodyComplete = bodyComplete
        self.resource = resource
        self.status = status
    }
}

/// Decides which advice is trusted and acted on. A step-up runs in the user's session, so the advice must come from AM.
extension AuthorizationPolicy {
    /// The forms of advice to look for in a response. The response to a policy evaluation holds decisions only, so `body` counts
    /// there by default.
    public func forms(for request: RequestHead, sent: RequestHead, _ resource: Resource) -> Advice.Forms {
        if resource.advice.contains(.body) || !isPolicyEvaluation(request) || !isPolicyEvaluation(sent) {
            return resource.advice
        }
        return resource.advice.union(.body)
    }

    /// The reason why a possible advice is not trusted, as one sentence; nil if it is.
    public func doubt(of advice: Advice, in exchange: AdvisedExchange) -> String? {
        guard advice.source == .redirect, let location = advice.location else { return nil }
        guard let target = URLReference.resolve(location, against: exchange.sent),
            server.signsIn(at: target)
        else {
            return
                "a redirect with an advice leads to \(LogText.shown(location)), which is neither \(server.url) nor one of its login_pages"
        }
        if AdviceEcho.isIn(exchange.request, body: exchange.body) || AdviceEcho.isIn(exchange.sent, body: []) {
            return "the request itself speaks of authIndex… or goto, so the redirect may say what its sender wanted"
        }
        return nil
    }

    /// The decision on a trusted advice.
    public enum Judgement: Equatable, Sendable {
        /// Run a step-up in this configured realm, spelled as in the configuration.
        case stepUp(realm: String)
        /// Do nothing, for the reason in this sentence.
        case refused(String)
    }

    public func judgement(of advice: Advice, in exchange: AdvisedExchange) -> Judgement {
        let replay = refusalToReplay(
            exchange.request, exchange.resource, bodyComplete: exchange.bodyComplete, after: exchange.status)
        if let replay { return .refused(replay) }
        return realm(of: advice, in: exchange)
    }

    /// The realm of a step-up for the advice, whether Usher or the client performs it.
    public func realm(of advice: Advice, in exchange: AdvisedExchange) -> Judgement {
        let named = namedRealm(advice, exchange)
        guard let realm = server.configuredRealm(named) else {
            return .refused("the advice is for realm \(LogText.shown(named)), which am[].realms does not name")
        }
        return refusalOfTrees(advice, exchange, realm: realm).map(Judgement.refused) ?? .stepUp(realm: realm)
    }

    /// The realm of an advice. Falls back to the realm of the policy evaluation, then to the first configured realm.
    private func namedRealm(_ advice: Advice, _ exchange: AdvisedExchange) -> String {
        if let realm = advice.realm, !realm.isEmpty { return Realm.normalized(realm) }
        return evaluatedRealm(exchange.request) ?? server.realms.first ?? "/"
    }

    private func refusalOfTrees(_ advice: Advice, _ exchange: AdvisedExchange, realm: String) -> String? {
        // decisions, challenges and redirects of AM may name any tree of the configured realms. A body that an application passes
        // on is less direct, so it names no tree unless `trees` allows it
        let isAsked = advice.source != .body || isPolicyEvaluation(exchange.request)
        let allowed = exchange.resource.trees ?? (isAsked ? nil : [])
        for condition in advice.conditions {
            for value in condition.values {
                let named = TreePattern.split(value)
                let asked = condition.subject == .realm ? Realm.normalized(value) : named.realm ?? realm
                let isAllowed =
                    switch condition.subject {
                    case .none: true
                    case .realm, .level: server.configuredRealm(asked) != nil
                    case .unknown where allowed == nil: true
                    case .tree, .unknown:
                        allowed?.contains { $0.allows(named.name, realm: asked, at: server) }
                            ?? (server.configuredRealm(asked) != nil)
                    }
                if isAllowed { continue }
                return server.configuredRealm(asked) == nil
                    ? "the advice names realm \(LogText.shown(asked)), which neither am[].realms nor the resource's trees name"
                    : "the advice asks for \(LogText.shown(named.name)), which the resource's trees do not allow"
            }
        }
        return nil
    }
}

extension Advice.Condition {
    /// The kind of object that a condition's values name (docs/protocol.md#conditions-and-their-document).
    enum Subject { case none, realm, level, tree, unknown }

    var subject: Subject {
        switch name {
        case Advice.transaction, "ForceAuthAdvice", "SessionConditionAdvice": .none
        case "AuthenticateToRealmConditionAdvice": .realm
        case "AuthLevelConditionAdvice": .level
        case "AuthenticateToServiceConditionAdvice", "AuthenticateToTreeConditionAdvice", "AuthSchemeConditionAdvice":
            .tree
        default: .unknown
        }
    }
}
