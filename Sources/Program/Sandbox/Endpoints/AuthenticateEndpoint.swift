internal import Formats
internal import HTTPCodec

/// `POST json/…/authenticate`: starts, continues and ends journeys.
struct AuthenticateEndpoint: Sendable {
    private let options: SandboxOptions
    private var journeys: JourneyTable
    var identities: IdentityStore

    /// - Parameter secret: signs `authId` tokens.
    init(_ options: SandboxOptions, secret: [UInt8]) {
        self.options = options
        journeys = JourneyTable(secret: secret)
        identities = IdentityStore(options)
    }

    /// The faults of a journey.
    func faults(of journey: String, now: Int) -> Faults { journeys.faults(of: journey, now: now) }

    mutating func answer(_ call: RESTCall, _ store: inout CoreTokenStore) -> SandboxResponse {
        let request = call.request
        guard request.head.method == .post else { return .methodNotAllowed("POST") }
        if let link = request.query["suspendedId"] { return resume(link, call, &store) }
        guard !request.body.isEmpty else { return start(call, &store) }
        guard request.mediaType == "application/json" else {
            return .fault(415, "Content-Type must be application/json")
        }
        guard let step = try? JSONValue(parsing: request.body), let members = step.members else {
            return .fault(400, "The request body is not a JSON object")
        }
        guard !members.isEmpty else { return start(call, &store) }
        guard let authId = step["authId"]?.text else {
            return step["callbacks"] == nil ? start(call, &store) : .fault(400, "Missing authId")
        }
        switch journeys.find(authId: authId, realm: call.realm, now: call.now) {
        case .unreadable:
            return .fault(400, "Error parsing JWT: the authId is not one of this realm", note: "bad authId")
        case .gone:
            return call.loginFailure(
                401, "Session has timed out", errorCode: "110", note: "journey expired or step repeated")
        case .found(let journey):
            return proceed(journey, step, call, &store)
        }
    }

    // MARK: start

    private mutating func start(_ call: RESTCall, _ store: inout CoreTokenStore) -> SandboxResponse {
        let query = call.request.query
        // a session of another realm is ignored here
        let session = store.sessions.find(shownBy: call.request, now: call.now)
            .flatMap { $0.realm == call.realm ? $0 : nil }
        let start = JourneyStart(
            id: store.ids.uuid(), realm: call.realm, indexType: query["authIndexType"] ?? "service",
            indexValue: query["authIndexValue"] ?? "", session: session, createsSession: query["noSession"] != "true",
            amURL: call.request.origin + options.basePath, faults: call.faults)
        let value = start.indexValue
        switch start.indexType {
        case "service":
            guard let tree = value.isEmpty ? Trees.login : identities.directory.tree(named: value) else {
                return noSuchTree(call)
            }
            if let session, session.services.contains(tree.name), query["ForceAuth"] != "true" {
                return success(
                    session, sets: false, note: "\(session.user) is already signed in", store.sessions.cookie)
            }
            return zeroPage(Journey(start, tree), call, &store)
        case "composite_advice":
            guard let advice = CompositeAdvice(indexValue: value) else {
                return .fault(400, "Invalid composite advice", note: "no advice in authIndexValue")
            }
            if let upgrade = advice.upgrade(identities.directory) { return startUpgrade(start, upgrade, call, &store) }
            guard let id = advice.first(CompositeAdvice.transaction) else {
                return .fault(400, "Unsupported advice", note: "unsupported advice")
            }
            return startTransaction(start, id, call, &store)
        case "transaction":
            return startTransaction(start, value, call, &store)
        default:
            return .fault(400, "Invalid authIndexType", note: "unsupported authIndexType")
        }
    }

    private func noSuchTree(_ call: RESTCall) -> SandboxResponse {
        call.loginFailure(400, "No Configuration found", errorCode: "105", note: "no such tree")
    }

    private mutating func startUpgrade(
        _ start: JourneyStart, _ upgrade: CompositeAdvice.Upgrade, _ call: RESTCall, _ store: inout CoreTokenStore
    ) -> SandboxResponse {
        guard upgrade.realm.map({ $0 == start.realm }) ?? true else {
            return .fault(400, "The advice names another realm than the URL", note: "advice for another realm")
        }
        guard let tree = upgrade.tree else { return noSuchTree(call) }
        return startJourney(Journey(start, tree), note: "upgrade through \(tree.name)", call, &store)
    }

    private mutating func startTransaction(
        _ start: JourneyStart, _ id: String, _ call: RESTCall, _ store: inout CoreTokenStore
    ) -> SandboxResponse {
        guard let session = start.session,
            let transaction = store.transactions.begin(
                id, realm: start.realm, subject: session.trackingId, now: call.now)
        else { return unreadableTransaction(id, call) }
        store.sessions.touch(session.token, now: call.now)
        return startJourney(
            Journey(start, transaction.strategy.tree(identities.directory), transaction: id),
            note: "transaction \(Transaction.short(id)) started for \(session.user)", call, &store)
    }

    /// The same response for a transaction that is unknown, expired, begun before, or of another session or realm.
    private func unreadableTransaction(_ id: String, _ call: RESTCall) -> SandboxResponse {
        call.loginFailure(
            401, "Unable to read transaction: \(id)", errorCode: "128",
            note: "transaction \(Transaction.short(id)) cannot be started or continued")
    }

    /// Starts a tree. Credentials in header fields answer its first name and password.
    private mutating func zeroPage(
        _ journey: Journey, _ call: RESTCall, _ store: inout CoreTokenStore
    ) -> SandboxResponse {
        let fields = call.request.head.fields
        guard let name = fields["X-OpenAM-Username"], let password = fields["X-OpenAM-Password"],
            journey.tree.asksNameAndPassword
        else { return startJourney(journey, note: "tree \(journey.tree.name) started", call, &store) }
        journeys.begin(journey, now: call.now)
        var journey = journey
        journey.name = Self.unencoded(name)
        journey.password = Self.unencoded(password)
        return goOn(journey, call, &store)
    }

    /// Decodes an encoded word (RFC 2047, `=?UTF-8?B?…?=`), or returns the text.
    private static func unencoded(_ text: String) -> String {
        let parts = text.split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "=", parts[4] == "=", ASCII.equal(parts[1], "utf-8"),
            ASCII.equal(parts[2], "b"), let bytes = Base64.decode(parts[3])
        else { return text }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func startJourney(
        _ journey: Journey, note: String, _ call: RESTCall, _ store: inout CoreTokenStore
    ) -> SandboxResponse {
        journeys.begin(journey, now: call.now)
        return ask(journey, note: note, call, &store)
    }

    // MARK: continue

    /// The journey's current page, with a new `authId`.
    private mutating func ask(
        _ journey: Journey, note: String, _ call: RESTCall, _ store: inout CoreTokenStore
    ) -> SandboxResponse {
        var journey = journey
        // each node is passed once at most, as a tree may lead in a circle
        for _ in journey.tree.nodes {
            guard journey.node.isPassed(journey, identities), journey.advance() else { break }
        }
        journey.asked = journey.node.page(&journey, &identities, &store.ids, call.now)
        let mails = journey.asked == [.mailed] ? mailLink(for: journey, call, &store.ids) : []
        let step: JSONValue = [
            "authId": .string(journeys.authId(journey, from: &store.ids, now: call.now)),
            "callbacks": .array(journey.asked.enumerated().map { $1.callback($0) }),
            "stage": .string(journey.tree.name), "header": .string(journey.tree.header),
        ]
        let types = journey.asked.map(\.type).joined(separator: ", ")
        var response = SandboxResponse.json(200, step, note: "\(note): asks for \(types)")
        response.mails = mails
        response.pushes = identities.devices.takePushes()
        return response
    }

    /// Makes the link of a suspended journey and writes it to the log. The response does not reveal whether the user exists.
    private mutating func mailLink(for journey: Journey, _ call: RESTCall, _ ids: inout TokenSource) -> [String] {
        guard let user = journey.claimed, identities.directory.knows(user, realm: journey.realm) else { return [] }
        let link = journeys.suspend(journey, from: &ids, now: call.now)
        let query = "realm=\(PercentCoding.encode(journey.realm))&suspendedId=\(link)"
        return ["mail to \(user): \(call.request.amURL(options))/XUI/?\(query)"]
    }

    private mutating func proceed(
        _ journey: Journey, _ step: JSONValue, _ call: RESTCall, _ store: inout CoreTokenStore
    ) -> SandboxResponse {
        if let id = journey.transaction {
            guard let subject = journey.start.session?.trackingId,
                store.sessions.find(shownBy: call.request, now: call.now)?.trackingId == subject,
                store.transactions.isInProgress(id, realm: journey.realm, subject: subject, now: call.now)
            else {
                journeys.end(journey)
                return unreadableTransaction(id, call)
            }
        }
        let callbacks = step["callbacks"]?.items ?? []
        guard callbacks.count == journey.asked.count else {
            return .fault(400, "Incorrect number of callbacks found in JSON response")
        }
        var values: [[JSONValue]] = []
        for (index, question) in journey.asked.enumerated() {
            guard let value = question.answer(in: callbacks[index], index) else {
                return .fault(400, "Required callback not found in JSON response: \(question.type)")
            }
            values.append(value)
        }
        var journey = journey
        if journey.start.faults.has(.amEndless) {
            return ask(journey, note: "the same callbacks again", call, &store)
        }
        switch journey.node.take(Answers(values), &journey, &identities, call.now) {
        case .next: return goOn(journey, call, &store)
        case .again(let why):
            return ask(journey, note: "tree \(journey.tree.name), again: \(why)", call, &store)
        case .failed(let why): return fail(journey, why, call, &store)
        case .locked(let why):
            if let user = journey.claimed { identities.lockouts.lock(user, journey.realm, now: call.now) }
            return fail(journey, why, call, &store)
        }
    }

    /// Resumes a journey by its mailed link, after the page that suspended it.
    private mutating func resume(_ link: String, _ call: RESTCall, _ store: inout CoreTokenStore) -> SandboxResponse {
        guard let journey = journeys.resume(link, realm: call.realm, now: call.now) else {
            let text =
                "org.forgerock.openam.auth.nodes.framework.token.SuspendedAuthSessionException: "
                + "The suspended session is unknown, over or resumed already"
            return call.loginFailure(401, text, errorCode: "110", note: "an invalid link")
        }
        return goOn(journey, call, &store)
    }

    /// Continues after a passed node.
    private mutating func goOn(_ journey: Journey, _ call: RESTCall, _ store: inout CoreTokenStore) -> SandboxResponse {
        var journey = journey
        guard journey.advance() else { return finish(journey, call, &store) }
        return ask(journey, note: "tree \(journey.tree.name) continues", call, &store)
    }

    // MARK: end

    /// Ends a journey after all nodes and checks its user.
    private mutating func finish(
        _ journey: Journey, _ call: RESTCall, _ store: inout CoreTokenStore
    ) -> SandboxResponse {
        guard let user = identities.user(of: journey) else { return fail(journey, "wrong answers", call, &store) }
        if let id = journey.transaction, let session = journey.start.session {
            guard user == session.user else { return fail(journey, "another user's answers", call, &store) }
            journeys.end(journey)
            guard store.transactions.complete(id, realm: journey.realm, subject: session.trackingId, now: call.now)
            else { return unreadableTransaction(id, call) }
            return success(
                session, sets: true, note: "transaction \(Transaction.short(id)) approved", store.sessions.cookie)
        }
        journeys.end(journey)
        guard !identities.lockouts.isLocked(user, journey.realm, now: call.now) else { return lockedOut(user, call) }
        identities.lockouts.succeeded(user, journey.realm)
        let old = journey.start.session.flatMap { store.sessions.find($0.token, now: call.now) }
        guard old == nil || old?.user == user else {
            return call.loginFailure(401, "Authentication Failed", errorCode: "107", note: "another user's answers")
        }
        guard journey.start.createsSession else {
            let answer: JSONValue = [
                "message": "Authentication Successful", "successUrl": .string(successURL),
                "realm": .string(journey.realm),
            ]
            return .json(200, answer, note: "\(user) is authenticated, without a session")
        }
        if let old { store.sessions.end(old.token) }
        let session = store.sessions.create(
            user: user, realm: journey.realm, services: (old?.services ?? []).union([journey.tree.name]),
            level: max(old?.level ?? 0, journey.tree.level), from: &store.ids, now: call.now)
        let what = old == nil ? "a session" : "a new session instead of the old one"
        return success(session, sets: true, note: "\(user) gets \(what)", store.sessions.cookie)
    }

    private mutating func fail(
        _ journey: Journey, _ why: String, _ call: RESTCall, _ store: inout CoreTokenStore
    ) -> SandboxResponse {
        guard let id = journey.transaction, let session = journey.start.session else {
            journeys.end(journey)
            if let user = journey.claimed {
                guard !identities.lockouts.isLocked(user, journey.realm, now: call.now) else {
                    return lockedOut(user, call)
                }
                identities.lockouts.failed(user, journey.realm, now: call.now)
            }
            return call.loginFailure(401, "Authentication Failed", errorCode: "107", note: why)
        }
        var again = journey
        if again.restart() {
            return ask(again, note: "transaction \(Transaction.short(id)): \(why), again", call, &store)
        }
        journeys.end(journey)
        store.transactions.refuse(id, realm: journey.realm, subject: session.trackingId, now: call.now)
        // the session stays, and only the replay shows the failure
        let note = "transaction \(Transaction.short(id)) refused: \(why)"
        return success(session, sets: true, note: note, store.sessions.cookie)
    }

    private func lockedOut(_ user: String, _ call: RESTCall) -> SandboxResponse {
        call.loginFailure(401, "User Locked Out.", errorCode: "112", note: "\(user) is locked out")
    }

    private var successURL: String { options.basePath + "/console" }

    /// - Parameter sets: true to set the cookie.
    private func success(_ session: Session, sets: Bool, note: String, _ cookie: SessionCookie) -> SandboxResponse {
        let answer: JSONValue = [
            "tokenId": .string(session.token), "successUrl": .string(successURL), "realm": .string(session.realm),
        ]
        var response = SandboxResponse.json(200, answer, note: note)
        if sets { response.fields += [cookie.field(session.token), ("Set-Cookie", "amlbcookie=01; Path=/")] }
        return response
    }
}
