import Formats
public import HTTPCodec

/// Recognises the meaning of a request to AM from the message alone (docs/protocol.md#actions). Requests to hosts that are not
/// configured authorization servers are never AM's, whatever their path.
public struct Classifier: Sendable {
    /// The number of bytes of a body that are examined.
    public static let bodyPeek = 64 << 10

    /// A call whose Action depends on its body.
    public struct Call: Equatable, Sendable {
        let path: EndpointPath
        let realm: String?

        /// The endpoint: `authenticate` (the body may hold an `authId`) or `accessToken` (a form with `grant_type`).
        public var endpoint: AuthorizationServer.Endpoint {
            if case .endpoint(let endpoint) = path.resource { endpoint } else { .authenticate }
        }
    }

    public enum Step: Equatable, Sendable {
        /// The host is not a configured authorization server, and no definition matches.
        case none
        /// The classification is final; its Action may be nil.
        case done(Classification)
        /// Pass the first `bodyPeek` bytes of the body to `finish`.
        case needsBody(Call)
    }

    struct Host: Sendable {
        /// Lower case, without brackets.
        let name: [UInt8]
        var configured: [([String], AuthorizationServer.Endpoint)] = []
    }

    private struct Definition: Sendable {
        let action: Action
        let condition: CompiledCondition
    }

    private var hosts: [Host] = []
    private let definitions: [Definition]

    /// - Parameter definitions: the configuration's own Actions, for requests to any host without another Action. The first match
    ///   decides.
    public init(servers: [AuthorizationServer], definitions: [ActionDefinition] = []) {
        self.definitions = definitions.map {
            Definition(action: $0.action, condition: CompiledCondition($0.when))
        }
        for server in servers {
            let name = server.host.utf8.filter { $0 != 0x5B && $0 != 0x5D }.map(ASCII.lower)
            let index = hosts.firstIndex { $0.name == name } ?? hosts.endIndex
            if index == hosts.endIndex { hosts.append(Host(name: name)) }
            for endpoint in AuthorizationServer.Endpoint.allCases {
                guard let path = server.paths[endpoint], let segments = EndpointPath.segments(path) else { continue }
                hosts[index].configured.append((segments, endpoint))
            }
        }
    }

    /// Classifies by method, host, path and query; final if there is no body to examine. For other hosts this compares a few
    /// bytes only, unless there are definitions.
    public func begin(_ head: borrowing RequestHead) -> Step {
        guard let host = host(head) else {
            guard !definitions.isEmpty else { return .none }
            return defined(copy head).map { .done($0) } ?? .none
        }
        let head = copy head
        let call: Call
        switch recognise(head, host) {
        case .classification(let classification): return .done(classification)
        case .call(let found): call = found
        }
        // the flow store is not needed: without a body there is no authId to look up
        if let framing = try? head.framing(), framing == BodyFraming.none {
            return .done(finish(head, call, body: nil, complete: true, flows: nil))
        }
        if head.hasEncodedBody { return .done(finish(head, call, body: nil, complete: false, flows: nil)) }
        return .needsBody(call)
    }

    /// Classifies a call that Usher makes itself. Its Action is known; the URL gives the realm.
    public func own(_ head: RequestHead, _ action: Action, _ payload: ActionPayload?) -> Classification {
        var realm: String?
        if let host = host(head), case .call(let call) = recognise(head, host) { realm = call.realm }
        return Classification(
            action: action, payload: payload, realm: realm, evidence: "A call of Usher's own.", isOwn: true)
    }

    /// - Parameters:
    ///   - body: the body or its first `bodyPeek` bytes; nil if there is none or it cannot be read.
    ///   - complete: false if the body is longer than `body`.
    ///   - flows: maps an opaque `authId` to its tree.
    public func finish(
        _ head: RequestHead, _ call: Call, body: [UInt8]?, complete: Bool, flows: (any FlowStore)?
    ) -> Classification {
        let readable = complete && (body == nil || !head.hasEncodedBody) ? body ?? [] : nil
        guard call.endpoint == .accessToken else { return authenticate(head, call, readable, flows) }
        let found = token(call, readable)
        return found.action == nil ? defined(head) ?? found : found
    }

    /// Both steps for a complete request. It also gives the reason if nothing was recognised.
    public func classify(
        _ head: RequestHead, body: [UInt8]?, complete: Bool = true, flows: (any FlowStore)? = nil
    ) -> Classification {
        guard let host = host(head) else {
            return defined(head) ?? .unknownHost
        }
        switch recognise(head, host) {
        case .classification(let classification): return classification
        case .call(let call): return finish(head, call, body: body, complete: complete, flows: flows)
        }
    }

    /// The `authId` in the response to an authenticate call.
    public static func authId(in body: [UInt8]) -> String? { AuthID.find(in: body) }
}

// MARK: steps

extension Classifier {
    func host(_ head: borrowing RequestHead) -> Host? {
        let range = head.target.host
        guard head.method != .connect, !range.isEmpty else { return nil }
        for host in hosts where host.name.count == Int(range.count) {
            let bytes = head.fields.bytes
            var index = 0
            while index < host.name.count, ASCII.lower(bytes[range.lower &+ index]) == host.name[index] { index &+= 1 }
            if index == host.name.count { return host }
        }
        return nil
    }

    private func defined(_ head: RequestHead) -> Classification? {
        guard head.method != .connect else { return nil }
        let subject = Subject(request: head, response: nil, classification: nil)
        guard let found = definitions.first(where: { $0.condition.holds(for: subject) }) else { return nil }
        return Classification(
            action: found.action, evidence: "The configuration's own definition of \(found.action.rawValue) holds.")
    }

    private enum Recognition {
        case classification(Classification)
        case call(Call)
    }

    private func recognise(_ head: RequestHead, _ host: Host) -> Recognition {
        func nothing(_ why: String) -> Recognition { .classification(defined(head) ?? Self.nothing(why)) }
        guard head.method != .options else { return nothing("OPTIONS is never an Action.") }
        let query = QueryText(head.query ?? "")
        let segments = EndpointPath.segments(head.path)
        let configured = host.configured.first { $0.0 == segments }.map { EndpointPath(configured: $0.1) }
        guard let path = configured ?? segments.flatMap(EndpointPath.init) else {
            return nothing("The path is none of the authorization server's that stand for an Action.")
        }
        var realm = path.realm
        if realm != nil, let named = query["realm"].flatMap(RealmPath.parse(parameter:)) { realm = named }
        guard path.methods.contains(head.method) else {
            return nothing("\(head.methodText) \(path.described) has no Action.")
        }
        func action(_ action: Action, _ more: String = "") -> Recognition {
            let evidence = "\(head.methodText) \(path.described)\(more)."
            return .classification(Classification(action: action, realm: realm, evidence: evidence))
        }
        switch path.resource {
        case .deviceBinding: return action(.deleteBinding)
        case .wellKnown: return action(.wellKnown)
        case .logoutPage: return action(.logout)
        case .endpoint(let endpoint):
            switch endpoint {
            case .authorize: return action(.authorize)
            case .revoke: return action(.revokeToken)
            case .userInfo: return action(.userInfo)
            case .endSession: return action(.endSession)
            case .pushedAuthorization: return action(.pushedAuthorization)
            case .sessions, .push:
                guard let found = Self.crestAction(endpoint, query["_action"]) else {
                    return nothing("\(head.methodText) \(path.described) has no Action with this _action.")
                }
                return action(found, " with _action=\(query["_action"] ?? "")")
            case .authenticate, .accessToken: return .call(Call(path: path, realm: realm))
            }
        }
    }

    /// For AM's own resources, the query parameter `_action` decides.
    private static func crestAction(_ endpoint: AuthorizationServer.Endpoint, _ name: String?) -> Action? {
        switch (endpoint, name) {
        case (.sessions, "logout"): .logout
        case (.push, "register"): .pushRegister
        case (.push, "authenticate"): .pushAuthenticate
        case (.push, "refresh"), (.push, "update"): .pushUpdate
        default: nil
        }
    }

    private static func nothing(_ why: String) -> Classification { Classification(action: nil, evidence: why) }

    /// The grant in the form decides. An unreadable form has no Action, because the path does not tell the grant.
    private func token(_ call: Call, _ body: [UInt8]?) -> Classification {
        guard let body else {
            return Self.nothing("The token request's form is too large or compressed, so its grant_type is not known.")
        }
        var grant = QueryText(String(decoding: body, as: UTF8.self))["grant_type"] ?? ""
        while let last = grant.last, last.isWhitespace { grant.removeLast() }
        switch grant {
        case "authorization_code", "refresh_token":
            return Classification(
                action: grant == "refresh_token" ? .refreshToken : .exchangeToken, realm: call.realm,
                evidence: "POST \(call.path.described) with grant_type=\(grant) in the form.")
        case "": return Self.nothing("The token request's form has no grant_type.")
        default: return Self.nothing("The token request's grant_type is neither authorization_code nor refresh_token.")
        }
    }

    /// The body decides first, then the query.
    /// - Parameter body: empty if there is none; nil if it cannot be read. An unreadable body counts as a follow-up, because
    ///   start calls are small and unencoded.
    private func authenticate(
        _ head: RequestHead, _ call: Call, _ body: [UInt8]?, _ flows: (any FlowStore)?
    ) -> Classification {
        let query = QueryText(head.query ?? "")
        func parameter(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }
        let asked = parameter("authIndexType").map { ActionPayload(tree: parameter("authIndexValue"), type: $0) }
        let call = (place: "POST \(call.path.described)", realm: call.realm)
        func result(
            _ action: Action, _ payload: ActionPayload?, _ source: Classification.PayloadSource?, _ why: String
        ) -> Classification {
            Classification(
                action: action, payload: payload, realm: call.realm, payloadSource: source,
                evidence: "\(call.place) \(why).")
        }
        func followUp(_ why: String) -> Classification {
            guard let asked else {
                return result(
                    .authenticate, ActionPayload(tree: nil, type: nil), .unknown, "\(why), and nothing tells the tree")
            }
            return result(.authenticate, asked, .query, "\(why); tree and type come from the query")
        }
        guard let body else {
            return followUp("with a body that is too large or compressed is taken for a follow-up")
        }
        if let authId = AuthID.find(in: body) {
            if let payload = AuthID.payload(authId) {
                return result(
                    .authenticate, payload, .authId, "with an authId in the body; tree and type come from its claims")
            }
            if let payload = flows?.recall(authId: authId) {
                return result(
                    .authenticate, payload, .state,
                    "with an authId in the body; tree and type are remembered from the flow's start")
            }
            return followUp("with an authId in the body that says nothing by itself")
        }
        if parameter("suspendedId") != nil {
            return result(.resumeAuthenticate, nil, nil, "without an authId, with suspendedId in the query")
        }
        guard let asked else {
            return result(
                .startAuthenticate, ActionPayload(tree: nil, type: "service"), .default,
                "without an authId and without authIndexType: the realm's default tree")
        }
        return result(.startAuthenticate, asked, .query, "without an authId; tree and type come from the query")
    }
}

extension EndpointPath {
    /// The methods for which this path has an Action.
    var methods: [Method] {
        switch resource {
        case .deviceBinding: [.delete]
        case .wellKnown: [.get]
        case .logoutPage: [.get, .post]
        case .endpoint(.authorize), .endpoint(.userInfo), .endpoint(.endSession): [.get, .post]
        case .endpoint: [.post]
        }
    }

    /// A name for sentences. It omits the path, which may contain a user's name.
    var described: String {
        let name =
            switch resource {
            case .deviceBinding: "a user's device binding"
            case .wellKnown: "the OpenID configuration"
            case .logoutPage: "the logout page"
            case .endpoint(let endpoint): "the \(endpoint.rawValue) endpoint"
            }
        switch origin {
        case .standard: return "to \(name)"
        case .configured: return "to \(name), at its configured path,"
        case .pingOne: return "to \(name) of PingOne"
        }
    }
}

extension RequestHead {
    /// True if the body has a content coding, so that its bytes are not its text.
    var hasEncodedBody: Bool {
        fields.slots.contains { slot in
            slot.known == .contentEncoding && !slot.value.isEmpty && !fields.equal(slot.value, "identity")
        }
    }
}
