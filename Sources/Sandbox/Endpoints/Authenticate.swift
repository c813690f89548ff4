internal import Formats
internal import HTTPCodec

/// `POST json/…/authenticate`: starts, continues and ends journeys.
extension SandboxServer {
    mutating func authenticate(
        _ request: SandboxRequest, realm: String, _ version: ResourceVersion, _ faults: Faults, _ now: Int
    ) -> SandboxResponse {
        guard request.head.method == .post else { return .methodNotAllowed("POST") }
        if let id = request.query["suspendedId"] { return resume(id, request, realm: realm, version, now) }
        guard !request.body.isEmpty else { return start(request, realm, version, faults, now) }
        guard request.mediaType == "application/json" else {
            return .fault(415, "Content-Type must be application/json")
        }
        guard let step = try? JSONValue(parsing: request.body), let members = step.members else {
            return .fault(400, "The request body is no JSON object")
        }
        guard !members.isEmpty else { return start(request, realm, version, faults, now) }
        guard let authId = step["authId"]?.text else {
            return step["callbacks"] == nil
                ? start(request, realm, version, faults, now) : .fault(400, "Missing authId")
        }
        switch flows.find(authId: authId, realm: realm, now: now) {
        case .unreadable:
            return .fault(400, "Error parsing JWT: the authId is not one of this realm", note: "bad authId")
        case .gone:
            return loginFailure(
                401, "Session has timed out", errorCode: "110", version, note: "journey over or step repeated")
        case .found(let flow):
            return proceed(flow, step, request, version, now)
        }
    }

    // MARK: start

    private mutating func start(
        _ request: SandboxRequest, _ realm: String, _ version: ResourceVersion, _ faults: Faults, _ now: Int
    ) -> SandboxResponse {
        let query = request.query
        let type = query["authIndexType"] ?? "service"
        let value = query["authIndexValue"] ?? ""
        // a session of another realm means nothing here
        let session = session(of: request, now).flatMap { $0.realm == realm ? $0 : nil }
        var flow = AuthenticationFlow(
            id: tokens.uuid(), realm: realm, indexType: type, indexValue: value, tree: Trees.login, session: session)
        flow.faults = faults
        flow.amURL = request.origin + options.basePath
        flow.createsSession = query["noSession"] != "true"
        switch type {
        case "service":
            guard let tree = value.isEmpty ? Trees.login : Trees.named(value) else {
                return loginFailure(
                    400, "No Configuration found", errorCode: "105", version, note: "no tree of that name")
            }
            flow.tree = tree
            if let session, session.services.contains(tree.name), query["ForceAuth"] != "true" {
                return success(session, sets: false, request, note: "\(session.user) is signed in already")
            }
            return zeroPage(flow, request, version, now)
        case "composite_advice":
            guard let advice = CompositeAdvice(indexValue: value) else {
                return .fault(400, "Invalid composite advice", note: "no advice in authIndexValue")
            }
            if let upgrade = advice.upgrade { return startUpgrade(flow, upgrade, version, now) }
            guard let id = advice.first(CompositeAdvice.transaction) else {
                return .fault(400, "Unsupported advice", note: "an advice that the sandbox does not know")
            }
            return startTransaction(flow, id, version, now)
        case "transaction":
            return startTransaction(flow, value, version, now)
        default:
            return .fault(400, "Invalid authIndexType", note: "an authIndexType that the sandbox does not know")
        }
    }

    private mutating func startUpgrade(
        _ flow: AuthenticationFlow, _ upgrade: CompositeAdvice.Upgrade, _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        guard upgrade.realm.map({ $0 == flow.realm }) ?? true else {
            return .fault(400, "The advice names another realm than the URL", note: "advice for another realm")
        }
        guard let tree = upgrade.tree else {
            return loginFailure(400, "No Configuration found", errorCode: "105", version, note: "no tree of that name")
        }
        var flow = flow
        flow.tree = tree
        flows.begin(flow, now: now)
        return ask(flow, note: "upgrade through \(tree.name)", now)
    }

    private mutating func startTransaction(
        _ flow: AuthenticationFlow, _ id: String, _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        guard let session = flow.session,
            let transaction = transactions.begin(id, realm: flow.realm, subject: session.trackingId, now: now)
        else { return unreadableTransaction(id, version) }
        sessions.touch(session.token, now: now)
        var flow = flow
        flow.tree = transaction.strategy.tree
        flow.transaction = id
        flows.begin(flow, now: now)
        return ask(flow, note: "transaction \(Self.short(id)) begun for \(session.user)", now)
    }

    /// Unknown, expired, begun before, of another session or realm: all one answer.
    func unreadableTransaction(_ id: String, _ version: ResourceVersion) -> SandboxResponse {
        loginFailure(
            401, "Unable to read transaction: \(id)", errorCode: "128", version,
            note: "transaction \(Self.short(id)) cannot be begun or continued")
    }

    /// Starts a tree; where the credentials came as header fields they answer its first name and password.
    private mutating func zeroPage(
        _ flow: AuthenticationFlow, _ request: SandboxRequest, _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        flows.begin(flow, now: now)
        guard let name = request.head.fields["X-OpenAM-Username"],
            let password = request.head.fields["X-OpenAM-Password"], flow.tree.asksNameAndPassword
        else { return ask(flow, note: "tree \(flow.tree.name) begun", now) }
        var flow = flow
        flow.name = Self.unencoded(name)
        flow.password = Self.unencoded(password)
        return goOn(flow, request, version, now)
    }

    /// Text in the encoding of RFC 2047 (`=?UTF-8?B?…?=`), or as it stands.
    private static func unencoded(_ text: String) -> String {
        let parts = text.split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "=", parts[4] == "=", ASCII.equal(parts[1], "utf-8"),
            ASCII.equal(parts[2], "b"), let bytes = Base64.decode(parts[3])
        else { return text }
        return String(decoding: bytes, as: UTF8.self)
    }
}
