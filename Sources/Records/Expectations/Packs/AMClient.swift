internal import Interception
internal import Journal

extension RulePack {
    /// What AM expects of its clients.
    static let amClient = RulePack(
        "am-client", "What AM expects of its clients.",
        Rule(
            "authid-once", "An authId is sent once, unless AM gave it again.",
            "AM, Authenticate over REST: each response has the authId for the next call", AuthIDOnce()),
        Rule(
            "accept-api-version", "Calls to AM's JSON endpoints name the version that they expect.",
            "AM, REST API versioning: Accept-API-Version",
            when: .any([
                .action(.startAuthenticate, .authenticate, .resumeAuthenticate),
                .all([.action(.logout), .key(.path, "*/sessions*")]),
            ]),
            each: .key(.header("accept-api-version"), "*")),
        Rule(
            "callbacks-answered", "Each callback that asks something gets an answer.",
            "AM, Callback types: interactive callbacks", CallbacksAnswered()),
        Rule(
            "logout-ends-session", "A session is not used after its logout.",
            "AM, Manage sessions over REST: _action=logout", LogoutEndsSession()),
        Rule(
            "logout-revokes-tokens", "A logout comes with the revocation of the session's tokens.",
            "RFC 7009 §1; AM, /oauth2/token/revoke", LogoutRevokesTokens()),
        Rule(
            "transaction-once", "A transaction id is shown to a resource once.",
            "AM, Transactional authorization: a transaction ID is single-use", TransactionOnce()))
}

struct AuthIDOnce: FlowRule {
    private var spent = Recollection<SecretAlias, FlowID>()

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        guard exchange.action == .authenticate, let sent = exchange.flow.alias(.authId, in: .requestBody) else {
            return .other
        }
        defer {
            if exchange.status != 0 { spent[sent] = exchange.id }
            // some versions give the same one for the whole login
            if let given = exchange.flow.alias(.authId, in: .responseBody) { spent[given] = nil }
        }
        return spent[sent].map { .breaks("\(sent.text) was sent before, by flow \($0)") } ?? .fits
    }
}

/// AM's steps, to be found by the call that answers each.
struct OpenSteps: Sendable {
    private var given = Recollection<SecretAlias, PackedFlow>(most: 64)

    /// The steps that no call has answered, oldest first.
    var all: [PackedFlow] { given.all }

    /// Remembers the step in the response.
    /// - Returns: the step that the request answers; nil if it was not seen.
    mutating func take(_ exchange: StoredExchange) -> PackedFlow? {
        guard let action = exchange.action, [.startAuthenticate, .authenticate, .resumeAuthenticate].contains(action)
        else { return nil }
        let sent = exchange.flow.alias(.authId, in: .requestBody)
        let step = sent.flatMap { given[$0] }
        if let sent, exchange.status != 0 { given[sent] = nil }
        if let next = exchange.flow.alias(.authId, in: .responseBody) { given[next] = exchange.flow.alone }
        return step
    }
}

struct CallbacksAnswered: FlowRule {
    private var steps = OpenSteps()
    /// The types that the app has answered.
    private var answered: Set<String> = []

    /// The callbacks whose input is empty until someone answers.
    private static let asking: Set<String> = [
        "NameCallback", "PasswordCallback", "ValidatedCreateUsernameCallback", "ValidatedCreatePasswordCallback",
        "TextInputCallback", "StringAttributeInputCallback", "KbaCreateCallback",
        "DeviceProfileCallback", "DeviceBindingCallback", "DeviceSigningVerifierCallback", "ReCaptchaCallback",
        "ReCaptchaEnterpriseCallback", "AppIntegrityCallback", "PingOneProtectEvaluationCallback",
        "SelectIdPCallback",
    ]

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        guard let step = steps.take(exchange), !exchange.flow.flags.contains(.requestBodyCut) else { return .other }
        let asked = Self.asked(step, exchange.flow[.requestBody])
        guard !asked.isEmpty else { return .other }
        if let open = asked.first(where: { $0.answer == nil }) { return .breaks("\(open.type) has no answer") }
        // a few dozen types exist
        if answered.count < 256 { answered.formUnion(asked.map(\.type)) }
        return .fits
    }

    private static func asked(_ step: PackedFlow, _ next: ArraySlice<UInt8>?) -> [AskedCallback] {
        AskedCallback.all(of: step[.responseBody], answeredBy: next).filter { asking.contains($0.type) }
    }

    /// A login that stops at a type that the app never answers.
    var missing: RuleMiss? {
        for step in steps.all {
            let types = Self.asked(step, nil).map(\.type)
            guard let type = types.first(where: { !answered.contains($0) }) else { continue }
            return RuleMiss(flow: step, because: "no call answers the \(type) of this step")
        }
        return nil
    }
}

struct LogoutEndsSession: FlowRule {
    private var ended = Recollection<SecretAlias, (by: FlowID, at: Int)>()

    /// Calls that may still show it.
    private static let spared: Set<Action> = [
        .startAuthenticate, .authenticate, .resumeAuthenticate, .logout, .endSession, .revokeToken,
    ]

    func isConcerned(with flow: borrowing PackedFlow) -> Bool { !ended.isEmpty || !flow.isEmpty(.action) }

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        if exchange.action == .logout, exchange.isDone, let session = exchange.flow.shownSession {
            ended[session] = (exchange.id, exchange.ended)
            return .fits
        }
        if let action = exchange.action, Self.spared.contains(action) { return .other }
        guard let session = exchange.flow.shownSession, let end = ended[session], exchange.began >= end.at else {
            return .other
        }
        return .breaks("\(session.text) is used after its logout by flow \(end.by)")
    }
}

struct LogoutRevokesTokens: FlowRule {
    private struct Grant: Sendable {
        var flow: PackedFlow
        var tokens: Set<SecretAlias>
        /// Nil if it is not known.
        var session: SecretAlias?
    }

    /// The session that each code was given to.
    private var codes = Recollection<SecretAlias, SecretAlias>()
    private var grants: [Grant] = []
    private var logouts: [(flow: PackedFlow, session: SecretAlias?)] = []
    private static let most = 64

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        switch exchange.action {
        case .authorize?:
            if let session = exchange.flow.shownSession,
                let code = exchange.flow.alias(.code, named: "code", in: .response)
            {
                codes[code] = session
            }
        case .exchangeToken? where exchange.isDone, .refreshToken? where exchange.isDone: take(exchange)
        case .revokeToken? where exchange.isDone:
            let revoked = exchange.flow.alias(.token, in: .requestBody)
            grants.removeAll { grant in revoked.map(grant.tokens.contains) == true }
        case .logout? where exchange.isDone:
            if logouts.count < Self.most { logouts.append((exchange.flow.alone, exchange.flow.shownSession)) }
            return .fits
        default: break
        }
        return .other
    }

    private mutating func take(_ exchange: StoredExchange) {
        let given = Set(
            exchange.flow.aliases(in: .responseBody).filter { ["access_token", "refresh_token"].contains($0.name) }
                .map(\.alias))
        let shown = exchange.flow.alias(.token, in: .requestBody)
        if let index = grants.firstIndex(where: { grant in shown.map(grant.tokens.contains) == true }) {
            grants[index].tokens.formUnion(given)
        } else if !given.isEmpty, grants.count < Self.most {
            let code = exchange.flow.alias(.code, named: "code", in: .requestBody)
            grants.append(Grant(flow: exchange.flow.alone, tokens: given, session: code.flatMap { codes[$0] }))
        }
    }

    var missing: RuleMiss? {
        for logout in logouts {
            let left = grants.first { grant in
                grant.flow[.began] <= logout.flow[.began]
                    && (grant.session == nil || logout.session == nil || grant.session == logout.session)
            }
            guard let left else { continue }
            return RuleMiss(
                flow: logout.flow, because: "the tokens of flow \(FlowID(left.flow.id)) are not revoked")
        }
        return nil
    }
}

struct TransactionOnce: FlowRule {
    private var used = Recollection<SecretAlias, FlowID>()

    func isConcerned(with flow: borrowing PackedFlow) -> Bool { flow.isEmpty(.action) }

    mutating func judge(_ exchange: StoredExchange) -> RuleFinding {
        guard
            let transaction = exchange.flow.alias(.transaction, in: .target)
                ?? exchange.flow.alias(.transaction, in: .request)
        else { return .other }
        if let before = used[transaction] {
            return .breaks("\(transaction.text) was used before, by flow \(before)")
        }
        if (200..<400).contains(exchange.status) { used[transaction] = exchange.id }
        return .fits
    }
}
