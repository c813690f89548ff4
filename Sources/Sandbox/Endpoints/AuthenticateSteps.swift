internal import Formats
internal import HTTPCodec

/// How journeys go on and end.
extension SandboxServer {
    /// The flow's present page, with a new `authId`.
    mutating func ask(_ flow: AuthenticationFlow, note: String, _ now: Int) -> SandboxResponse {
        var flow = flow
        while flow.node + 1 < flow.tree.nodes.count, flow.tree.nodes[flow.node].isPassed(flow, self) { flow.node += 1 }
        flow.asked = flow.tree.nodes[flow.node].page(&flow, &self, now)
        let step = JSONValue.record([
            "authId": .string(flows.authId(flow, from: &tokens, now: now)),
            "callbacks": .array(flow.asked.enumerated().map { $1.callback($0) }),
            "stage": .string(flow.tree.name), "header": .string(flow.tree.header),
        ])
        return .json(200, step, note: "\(note): asks for \(flow.asked.map(\.type).joined(separator: ", "))")
    }

    // MARK: continue

    mutating func proceed(
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
        let callbacks = step["callbacks"]?.items ?? []
        guard callbacks.count == flow.asked.count else {
            return .fault(400, "Incorrect number of callbacks found in JSON response")
        }
        var values: [[JSONValue]] = []
        for (index, question) in flow.asked.enumerated() {
            guard let value = question.answer(in: callbacks[index], index) else {
                return .fault(400, "Required callback not found in JSON response: \(question.type)")
            }
            values.append(value)
        }
        var flow = flow
        if flow.faults.has(.amEndless) { return ask(flow, note: "the same again, without end", now) }
        switch flow.tree.nodes[flow.node].take(Answers(values), &flow, &self, now) {
        case .next: return goOn(flow, request, version, now)
        case .again(let why): return ask(flow, note: "tree \(flow.tree.name), once more: \(why)", now)
        case .failed(let why): return fail(flow, why, request, version, now)
        }
    }

    /// A link that was mailed: the journey goes on behind the page that put it aside.
    mutating func resume(
        _ id: String, _ request: SandboxRequest, realm: String, _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        guard let flow = suspended.remove(id).flatMap({ flows.flow($0, now: now) }), flow.realm == realm else {
            let text =
                "org.forgerock.openam.auth.nodes.framework.token.SuspendedAuthSessionException: "
                + "The suspended session is unknown, over or resumed already"
            return loginFailure(401, text, errorCode: "110", version, note: "a link that leads nowhere")
        }
        return goOn(flow, request, version, now)
    }

    /// Makes the link of a journey that is put aside, and mails it: the log has it. Nobody hears whether there is
    /// somebody of that name.
    mutating func mailLink(for flow: AuthenticationFlow, _ now: Int) {
        guard let user = flow.claimed, options.directory.knows(user, realm: flow.realm) else { return }
        let id = tokens.token()
        suspended.insert(flow.id, id: id, now: now)
        mails.append(Mail(user: user, query: "realm=\(PercentCoding.encode(flow.realm))&suspendedId=\(id)"))
    }

    /// Behind a node that was passed.
    mutating func goOn(
        _ flow: AuthenticationFlow, _ request: SandboxRequest, _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        guard flow.node + 1 < flow.tree.nodes.count else { return finish(flow, request, version, now) }
        var flow = flow
        flow.node += 1
        return ask(flow, note: "tree \(flow.tree.name) goes on", now)
    }

    // MARK: end

    /// All nodes are passed: what counts now is who that was.
    private mutating func finish(
        _ flow: AuthenticationFlow, _ request: SandboxRequest, _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        guard let user = identified(flow) else { return fail(flow, "wrong answers", request, version, now) }
        if let id = flow.transaction, let session = flow.session {
            guard user == session.user else { return fail(flow, "another user's answers", request, version, now) }
            flows.end(flow)
            guard transactions.complete(id, realm: flow.realm, subject: session.trackingId, now: now) else {
                return unreadableTransaction(id, version)
            }
            return success(session, sets: true, request, note: "transaction \(Self.short(id)) approved")
        }
        flows.end(flow)
        guard !locks.isLocked(user, flow.realm, now: now) else { return lockedOut(user, version) }
        locks.succeeded(user, flow.realm)
        let old = flow.session.flatMap { sessions.find($0.token, now: now) }
        guard old == nil || old?.user == user else {
            return loginFailure(401, "Authentication Failed", errorCode: "107", version, note: "another user's answers")
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
            user: user, realm: flow.realm, services: (old?.services ?? []).union([flow.tree.name]),
            level: max(old?.level ?? 0, flow.tree.level), from: &tokens, now: now)
        let what = old == nil ? "a session" : "a new session in place of the old one"
        return success(session, sets: true, request, note: "\(user) gets \(what)")
    }

    /// Whose answers these are; nil where they are wrong. A tree that asks for no password believes what its nodes found.
    private func identified(_ flow: AuthenticationFlow) -> String? {
        guard let claimed = flow.claimed else { return nil }
        guard flow.name != nil || flow.password != nil else { return claimed }
        return options.directory.accepts(claimed, flow.password ?? "", realm: flow.realm) ? claimed : nil
    }

    private mutating func fail(
        _ flow: AuthenticationFlow, _ why: String, _ request: SandboxRequest, _ version: ResourceVersion, _ now: Int
    ) -> SandboxResponse {
        guard let id = flow.transaction, let session = flow.session else {
            flows.end(flow)
            if let user = flow.claimed {
                guard !locks.isLocked(user, flow.realm, now: now) else { return lockedOut(user, version) }
                locks.failed(user, flow.realm, now: now)
            }
            return loginFailure(401, "Authentication Failed", errorCode: "107", version, note: why)
        }
        if flow.failures < flow.tree.retries {
            var again = flow
            again.restart()
            return ask(again, note: "transaction \(Self.short(id)): \(why), once more", now)
        }
        flows.end(flow)
        transactions.refuse(id, realm: flow.realm, subject: session.trackingId, now: now)
        let note = "transaction \(Self.short(id)) refused: \(why)"
        guard !options.failedTransactionIsUnauthorized else {
            return loginFailure(401, "Login failure", errorCode: "107", version, note: note)
        }
        return success(session, sets: true, request, note: note)
    }

    private func lockedOut(_ user: String, _ version: ResourceVersion) -> SandboxResponse {
        loginFailure(401, "User Locked Out.", errorCode: "112", version, note: "\(user) is locked out")
    }

    private var successURL: String { options.basePath + "/console" }

    /// - Parameter sets: whether the cookie comes along.
    func success(
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
