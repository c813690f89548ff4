public import HTTPCodec
internal import Interception

/// The exchange in which something came that reads like an advice.
public struct AdvisedExchange: Sendable {
    /// As the client sent it.
    public var request: RequestHead
    /// As the origin got it.
    public var sent: RequestHead
    public var body: [UInt8]
    /// The whole body was kept.
    public var bodyComplete: Bool
    public var resource: AuthorizationPolicy.Resource
    /// Of the answer.
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

/// Whose word counts as an advice, and which advice is acted on: a step-up runs in the user's session.
extension AuthorizationPolicy {
    /// The forms of advice that are looked for in an answer. A policy evaluation's answer is decisions and nothing else, so
    /// there the body counts unasked.
    public func forms(for request: RequestHead, sent: RequestHead, _ resource: Resource) -> Advice.Forms {
        if resource.advice.contains(.body) || !isPolicyEvaluation(request) || !isPolicyEvaluation(sent) {
            return resource.advice
        }
        return resource.advice.union(.body)
    }

    /// Why what reads like an advice is none, one sentence; nil where it is one.
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

    /// What becomes of an advice that counts.
    public enum Judgement: Equatable, Sendable {
        /// A step-up in one of the configured realms, as the configuration spells it.
        case stepUp(realm: String)
        /// Nothing, for this reason, one sentence.
        case refused(String)
    }

    public func judgement(of advice: Advice, in exchange: AdvisedExchange) -> Judgement {
        let replay = refusalToReplay(
            exchange.request, exchange.resource, bodyComplete: exchange.bodyComplete, after: exchange.status)
        if let replay { return .refused(replay) }
        return realm(of: advice, in: exchange)
    }

    /// Where a step-up for the advice would run, whoever does it.
    public func realm(of advice: Advice, in exchange: AdvisedExchange) -> Judgement {
        let named = namedRealm(advice, exchange)
        guard let realm = server.configuredRealm(named) else {
            return .refused("the advice is for realm \(LogText.shown(named)), which am[].realms does not name")
        }
        return refusalOfTrees(advice, exchange, realm: realm).map(Judgement.refused) ?? .stepUp(realm: realm)
    }

    /// The realm of an advice; that of the policy evaluation, or the first one configured, where it names none.
    private func namedRealm(_ advice: Advice, _ exchange: AdvisedExchange) -> String {
        if let realm = advice.realm, !realm.isEmpty { return Realm.normalized(realm) }
        return evaluatedRealm(exchange.request) ?? server.realms.first ?? "/"
    }

    private func refusalOfTrees(_ advice: Advice, _ exchange: AdvisedExchange, realm: String) -> String? {
        // AM's own decisions, challenges and redirects of a listed resource may name any tree of the configured realms. What
        // an application passes on in a body is further from AM, and names none unless it is told to
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
    /// What the values of a condition name (docs/protocol.md#conditions-and-their-document).
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
