internal import Formats
internal import HTTPCodec

/// `POST json/…/authenticate`: starts, continues and ends journeys.
extension SandboxServer {
    mutating func authenticate(
        _ request: SandboxRequest, realm: String, _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        guard request.head.method == .post else { return .methodNotAllowed("POST") }
        guard !request.body.isEmpty else { return start(request, realm, version, now) }
        guard request.mediaType == "application/json" else {
            return .fault(415, "Content-Type must be application/json")
        }
        guard let step = try? JSONValue(parsing: request.body), let members = step.members else {
            return .fault(400, "The request body is no JSON object")
        }
        guard !members.isEmpty else { return start(request, realm, version, now) }
        guard let authId = step["authId"]?.text else {
            return step["callbacks"] == nil
                ? start(request, realm, version, now) : .fault(400, "Missing authId")
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
        _ request: SandboxRequest, _ realm: String, _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        let query = request.query
        let type = query["authIndexType"] ?? "service"
        let value = query["authIndexValue"] ?? ""
        // a session of another realm means nothing here
        let session = session(of: request, now).flatMap { $0.realm == realm ? $0 : nil }
        var flow = AuthenticationFlow(
            id: tokens.uuid(), realm: realm, indexType: type, indexValue: value, tree: .login, session: session)
        flow.createsSession = query["noSession"] != "true"
        switch type {
        case "service":
            guard let tree = value.isEmpty ? .login : Tree(service: value) else {
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
            if let service = advice.first(CompositeAdvice.service) ?? advice.first(CompositeAdvice.tree) {
                return startUpgrade(flow, service, version, now)
            }
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

    /// - Parameter service: `/alpha:StepUp`, `/:StepUp`, `:StepUp` or `StepUp`.
    private mutating func startUpgrade(
        _ flow: AuthenticationFlow, _ service: String, _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        let parts = service.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let named = parts.count == 2 ? String(parts[0]) : ""
        guard named.isEmpty || named == flow.realm else {
            return .fault(400, "The advice names another realm than the URL", note: "advice for another realm")
        }
        guard let last = parts.last, let tree = Tree(service: String(last)) else {
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
            transactions.begin(id, realm: flow.realm, subject: session.trackingId, now: now)
        else { return unreadableTransaction(id, version) }
        sessions.touch(session.token, now: now)
        var flow = flow
        flow.tree = .transaction(options.strategy)
        flow.transaction = id
        flows.begin(flow, now: now)
        return ask(flow, note: "transaction \(Self.short(id)) begun for \(session.user)", now)
    }

    /// Unknown, expired, begun before, of another session or realm: all one answer.
    private func unreadableTransaction(_ id: String, _ version: ResourceVersion) -> SandboxResponse {
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
            let password = request.head.fields["X-OpenAM-Password"], flow.tree == .login
        else { return ask(flow, note: "tree \(flow.tree.name) begun", now) }
        var flow = flow
        flow.take([.name(Self.unencoded(name)), .password(Self.unencoded(password))])
        return finish(flow, request, version, now)
    }

    /// Text in the encoding of RFC 2047 (`=?UTF-8?B?…?=`), or as it stands.
    private static func unencoded(_ text: String) -> String {
        let parts = text.split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "=", parts[4] == "=", ASCII.equal(parts[1], "utf-8"),
            ASCII.equal(parts[2], "b"), let bytes = Base64.decode(parts[3])
        else { return text }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The flow's present page, with a new `authId`.
    private mutating func ask(_ flow: AuthenticationFlow, note: String, _ now: Int) -> SandboxResponse {
        let questions = flow.tree.pages[flow.page]
        let step = JSONValue.record([
            "authId": .string(flows.authId(flow, from: &tokens, now: now)),
            "callbacks": .array(questions.enumerated().map { $1.callback($0) }),
            "stage": .string(flow.tree.name), "header": .string(flow.tree.header),
        ])
        return .json(200, step, note: "\(note): asks for \(questions.map(\.type).joined(separator: ", "))")
    }

    // MARK: continue

    private mutating func proceed(
        _ flow: AuthenticationFlow, _ step: JSONValue, _ request: SandboxRequest, _ version: ResourceVersion,
        _ now: Int
    ) -> SandboxResponse {
        if let id = flow.transaction {
            guard let subject = flow.session?.trackingId, session(of: request, now)?.trackingId == subject,
                transactions.isInProgress(id, realm: flow.realm, subject: subject, now: now)
            else {
                flows.end(flow)
                return unreadableTransaction(id, version)
            }
        }
        let questions = flow.tree.pages[flow.page]
        let callbacks = step["callbacks"]?.items ?? []
        guard callbacks.count == questions.count else {
            return .fault(400, "Incorrect number of callbacks found in JSON response")
        }
        var answers: [Answer] = []
        for (index, question) in questions.enumerated() {
            guard let answer = question.answer(in: callbacks[index], index) else {
                return .fault(400, "Required callback not found in JSON response: \(question.type)")
            }
            answers.append(answer)
        }
        var flow = flow
        flow.take(answers)
        guard flow.page + 1 < flow.tree.pages.count else { return finish(flow, request, version, now) }
        flow.page += 1
        return ask(flow, note: "tree \(flow.tree.name) goes on", now)
    }

    // MARK: end

    private mutating func finish(
        _ flow: AuthenticationFlow, _ request: SandboxRequest, _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        if let id = flow.transaction, let session = flow.session {
            return finishTransaction(flow, id, session, request, version, now)
        }
        flows.end(flow)
        let old = flow.session.flatMap { sessions.find($0.token, now: now) }
        guard let user = flow.identified, old == nil || old?.user == user else {
            return loginFailure(
                401, "Authentication Failed", errorCode: "107", version, note: "wrong answers, or another user's")
        }
        guard flow.createsSession else {
            let answer = JSONValue.record([
                "message": .string("Authentication Successful"), "successUrl": .string(successURL),
                "realm": .string(flow.realm),
            ])
            return .json(200, answer, note: "\(user) is known, no session wanted")
        }
        if let old { sessions.end(old.token) }
        let session = sessions.create(
            user: user, realm: flow.realm, services: (old?.services ?? []).union([flow.tree.name]), from: &tokens,
            now: now)
        let what = old == nil ? "a session" : "a new session in place of the old one"
        return success(session, sets: true, request, note: "\(user) gets \(what)")
    }

    private mutating func finishTransaction(
        _ flow: AuthenticationFlow, _ id: String, _ session: Session, _ request: SandboxRequest,
        _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        if flow.identified == session.user {
            flows.end(flow)
            guard transactions.complete(id, realm: flow.realm, subject: session.trackingId, now: now) else {
                return unreadableTransaction(id, version)
            }
            return success(session, sets: true, request, note: "transaction \(Self.short(id)) approved")
        }
        if flow.tree != .transaction(.choice), flow.failures == 0 {
            var again = flow
            again.failures = 1
            return ask(again, note: "transaction \(Self.short(id)): wrong answers, once more", now)
        }
        flows.end(flow)
        _ = transactions.refuse(id, realm: flow.realm, subject: session.trackingId, now: now)
        let note = "transaction \(Self.short(id)) refused"
        guard !options.failedTransactionIsUnauthorized else {
            return loginFailure(401, "Login failure", errorCode: "107", version, note: note)
        }
        return success(session, sets: true, request, note: note)
    }

    private var successURL: String { options.basePath + "/console" }

    /// - Parameter sets: whether the cookie comes along.
    private func success(
        _ session: Session, sets: Bool, _ request: SandboxRequest, note: String
    ) -> SandboxResponse {
        let answer = JSONValue.record([
            "tokenId": .string(session.token), "successUrl": .string(successURL), "realm": .string(session.realm),
        ])
        var response = SandboxResponse.json(200, answer, note: note)
        if sets { response.fields += [sessionCookie(session.token), ("Set-Cookie", "amlbcookie=01; Path=/")] }
        return response
    }

    func loginFailure(
        _ status: Int, _ message: String, errorCode: String, _ version: ResourceVersion, note: String
    ) -> SandboxResponse {
        guard version.major > 1 else {
            let old = JSONValue.record(["errorMessage": .string(message), "failureUrl": .string("")])
            return .json(status, old, note: note)
        }
        let detail = JSONValue.record(["failureUrl": .string(""), "errorCode": .string(errorCode)])
        return .fault(status, message, detail: detail, note: "\(note) (errorCode \(errorCode))")
    }
}
