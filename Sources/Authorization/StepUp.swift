internal import Formats
public import HTTPCodec
internal import Interception

/// One authentication at AM, from an advice or a tree to a session: a value that is given answers and says what to do next.
/// It knows no connection and no clock; the limit on its whole time (`hold`) is kept by whoever drives it.
///
/// Calls go to the configured server and nowhere else, whatever an advice names: they carry the user's session.
public struct StepUp: Sendable {
    private let policy: AuthorizationPolicy
    let goal: Goal
    /// Where AM is asked.
    public let realm: String
    private var cookies = ServerCookies()
    private var affinityLines: [String] = []
    private var calls = 0
    /// Those of them that count against the limit.
    private var steps = 0
    private var journey: Journey
    /// What AM is asked about sessions, beside the conversation.
    private var inquiry = Inquiry.none
    /// The tree went on by a link: of whom that is, the link does not tell.
    private var isResumed = false
    private var notes: [String] = []
    /// How the app presents itself: AM words its prompts, and chooses its pages, by this.
    private let manners: [(name: String, value: String)]

    /// - Parameters:
    ///   - realm: one of the configured realms, as the policy judged.
    ///   - app: the app's own request.
    public init(
        policy: AuthorizationPolicy, advice: Advice, session: SessionSource, realm: String, app: RequestHead? = nil
    ) {
        manners = ["User-Agent", "Accept-Language"].flatMap { name in
            (app?.fields.values(named: name) ?? []).filter(FieldSyntax.isValue).map { (name, $0) }
        }
        self.policy = policy
        goal = Goal(advice, session)
        self.realm = realm
        journey = Self.journey(policy, advice.tree, realm)
        if let named = advice.amURI, (try? RequestHead(method: "GET", url: named)).map(policy.server.signsIn) != true {
            note("the advice names another server, \(LogText.shown(named)); only \(policy.server.url) is asked")
        }
        if let affinity = session.affinity { cookies.set(SessionSource.affinityCookie, affinity) }
    }

    /// A login by a tree, for a session of Usher's own, with the policy's answers.
    /// - Parameters:
    ///   - tree: nil for the realm's default.
    ///   - users: whom it signs in, as far as that is known.
    public init(policy: AuthorizationPolicy, tree: String?, realm: String, users: [String]) {
        manners = []
        self.policy = policy
        goal = Goal(login: tree)
        self.realm = realm
        journey = Self.journey(policy, tree, realm, users: users)
    }

    private static func journey(
        _ policy: AuthorizationPolicy, _ tree: String?, _ realm: String, users: [String]? = nil
    ) -> Journey {
        let tree = tree.map { TreePattern.split($0) }
        return Journey(
            answers: policy.answers, asksPerson: policy.person.isAsked,
            tree: tree.map { RunningTree(name: $0.name, realm: $0.realm ?? realm, server: policy.server) },
            limits: .init(polls: policy.maxPolls, hold: policy.hold),
            devices: DeviceAttendance(policy.devices, policy.server, realm: realm), users: users,
            waitsForTurn: policy.asksPerson, links: .init(server: policy.server, realm: realm))
    }

    /// What happened since the last time this was asked, a sentence each, without secrets.
    public mutating func takeNotes() -> [String] {
        defer { notes.removeAll() }
        return notes
    }

    /// The answer to what was asked last may be the end of it, and another session stand in the place of the one that it is
    /// about: AM goes through with that whether anybody hears so or not.
    public var mayWin: Bool {
        guard goal.winsSession else { return false }
        switch inquiry {
        case .none: return !journey.isMessaging
        case .newOwner: return true
        case .user, .oldOwner: return false
        }
    }

    // MARK: events

    public mutating func begin(_ now: Circumstances = Circumstances()) -> Order {
        if let refusal = goal.refusal { return .failed(Failure(.unusable, refusal)) }
        note("authenticating in realm \(realm) for \(goal.summary)")
        journey.asksAM(now)
        return call(Call(query: goal.query, action: .startAuthenticate))
    }

    /// AM's answer to the last call, whole.
    public mutating func answered(
        status: Int, fields: FieldTable, body: [UInt8], _ now: Circumstances = Circumstances()
    ) -> Order {
        guard body.count <= policy.maxResponseBytes else {
            return .failed(
                Failure(.tooLarge, "AM's answer is larger than the \(policy.maxResponseBytes) bytes allowed"))
        }
        let answer = try? JSONValue(parsing: body)
        if let order = toldInquiry(status, answer, now) { return order }
        if journey.isMessaging { return next { (journey) throws(Failure) in try journey.messaged(status, now) } }
        let authId = answer?["authId"]?.text ?? ""
        guard status == 200 else {
            return .failed(ResponseFault.failure(status: status, answer: answer, hasStep: !authId.isEmpty))
        }
        guard let answer, answer.members != nil else {
            return .failed(Failure(.notJSON, "AM answered 200 with a body that is no JSON object"))
        }
        absorbCookies(fields)
        guard !authId.isEmpty || Self.isSuspended(answer) else {
            journey.succeeded(now)
            for sentence in journey.takeNotes() { note(sentence) }
            let order = ended(answer, fields)
            guard isResumed, case .succeeded(let won) = order, let new = won.session, let old = goal.session else {
                return order
            }
            return askOwner(of: won, new: new, old: old.token)
        }
        guard authId.utf8.count <= Self.maxAuthId else {
            return .failed(Failure(.tooLarge, "AM's authId has more than \(Self.maxAuthId >> 10) KiB"))
        }
        return next { (journey) throws(Failure) in try journey.asked(answer, now) }
    }

    /// The state of a tree is a part of it where AM keeps none itself: some ten KiB at most.
    private static let maxAuthId = 256 << 10

    /// A suspended tree may have no `authId`: it goes on by another way.
    private static func isSuspended(_ answer: JSONValue) -> Bool {
        answer["callbacks"]?.items?.contains { Callback($0).kind == .suspended } ?? false
    }

    /// The wait is over.
    public mutating func woke(_ now: Circumstances = Circumstances()) -> Order {
        next { (journey) throws(Failure) in try journey.woke(now) }
    }

    /// Answers are ready, and what is told in them is made when it is woken: a login that is not allowed to begin yet, or at all,
    /// then spends no one-time password. Where a person is asked, nobody has asked for a turn before.
    public var isAtTurn: Bool { journey.isAtTurn }

    private mutating func next(_ event: (inout Journey) throws(Failure) -> Journey.Next) -> Order {
        let next: Journey.Next
        do throws(Failure) {
            next = try event(&journey)
        } catch {
            takeNotesOfJourney()
            return .failed(error)
        }
        takeNotesOfJourney()
        switch next {
        case .send(let step):
            return call(
                Call(
                    body: Array(step.step.serialized.utf8), query: step.query, carriesAnswers: !step.given.isEmpty))
        case .poll(let step): return call(Call(body: Array(step.serialized.utf8), isPoll: true))
        case .wait(let milliseconds): return .wait(milliseconds: milliseconds)
        case .ask(let open): return .ask(open)
        case .askUser: return askUser()
        case .message(let message):
            calls += 1
            return .send(
                ServerCall(
                    head: message.head, body: message.body, number: calls, action: message.action, payload: nil,
                    carriesAnswers: false))
        }
    }

    private mutating func takeNotesOfJourney() {
        for sentence in journey.takeNotes() { note("step \(calls): \(sentence)") }
    }

    // MARK: a person

    /// The step that waits for a person.
    public var open: OpenStep? { journey.open }

    /// What a person says to the step that is open, all of it.
    /// - Throws: why that is no answer, in words for the person. The step stays open.
    public mutating func told(
        _ answers: PersonAnswers, _ now: Circumstances = Circumstances()
    ) throws(OpenStep.Refusal) -> Order {
        guard let open = journey.open else { throw OpenStep.Refusal("nobody is asked for anything") }
        if let refusal = open.refusal(of: answers) { throw refusal }
        let missing = open.missing(in: answers)
        if !missing.isEmpty {
            throw OpenStep.Refusal("\(missing.map(\.shown).joined(separator: ", ")) is still to be answered")
        }
        guard open.isSuspended else { return next { (journey) throws(Failure) in try journey.told(answers, now) } }
        guard let text = answers.link else { throw OpenStep.Refusal("the tree goes on by the link that was sent") }
        let link = try SuspendedLink(text, .init(server: policy.server, realm: realm))
        journey.rest()
        journey.asksAM(now)
        isResumed = true
        note("step \(calls): the tree goes on by the link that was sent")
        return call(Call(query: [NamedText("suspendedId", link.id)], action: .resumeAuthenticate))
    }

    /// The person says no.
    public mutating func denied() -> Order {
        journey.rest()
        return .failed(Failure(.unanswered, "a person denied it"))
    }

    // MARK: the user

    /// Answers are chosen by who the user is: AM alone knows whose session this is.
    private mutating func askUser() -> Order {
        inquiry = .user
        note("AM is asked whose session it is, for answers are chosen by that")
        return askInfo(of: goal.session?.token)
    }

    private mutating func askInfo(of token: String?) -> Order {
        do throws(HTTPFault) {
            var url = try policy.server.sessionsURL(realm: realm)
            url += url.utf8.contains(0x3F) ? "&" : "?"
            var head = try RequestHead(method: "POST", url: url + "_action=getSessionInfo")
            addFields(to: &head, version: AuthorizationServer.sessionsVersion, session: token)
            calls += 1
            return .send(
                ServerCall(
                    head: head, body: Array("{}".utf8), number: calls, action: .sessionInfo, payload: nil,
                    carriesAnswers: false))
        } catch {
            return .failed(Failure(.unusable, "the URL for sessions cannot be made: \(error.explanation)"))
        }
    }

    private mutating func toldUser(_ status: Int, _ answer: JSONValue?, _ now: Circumstances) -> Order {
        inquiry = .none
        let names = SessionInfo.names(answer)
        guard status == 200, !names.isEmpty else {
            return .failed(
                Failure(
                    .unusable, "AM does not say whose session it is (\(status)), and answers are chosen by that"))
        }
        return next { (journey) throws(Failure) in try journey.named(names, now) }
    }

    // MARK: a session that a link won

    private enum Inquiry {
        case none
        /// Whose the session is that is stepped up: answers are chosen by that.
        case user
        /// Whose the session is that is stepped up: a new one is for that user alone.
        case oldOwner(Outcome, new: String)
        /// Whose the new session is.
        case newOwner(Outcome, old: String)
    }

    /// - Returns: nil where nothing was asked.
    private mutating func toldInquiry(_ status: Int, _ answer: JSONValue?, _ now: Circumstances) -> Order? {
        switch inquiry {
        case .none: return nil
        case .user: return toldUser(status, answer, now)
        case .oldOwner(let won, let new):
            return toldOwner(status, answer) { step, identity in
                step.inquiry = .newOwner(won, old: identity)
                return step.askInfo(of: new)
            }
        case .newOwner(let won, let old):
            return toldOwner(status, answer) { _, identity in
                old == identity
                    ? .succeeded(won) : .failed(Failure(.unusable, "the link resumed another user's tree"))
            }
        }
    }

    /// A link may be that of another tree, and another user's: what it wins goes to nobody else's app.
    private mutating func askOwner(of won: Outcome, new: String, old: String) -> Order {
        inquiry = .oldOwner(won, new: new)
        note("AM is asked whose session the link has won")
        return askInfo(of: old)
    }

    private mutating func toldOwner(
        _ status: Int, _ answer: JSONValue?, _ goesOn: (inout StepUp, String) -> Order
    ) -> Order {
        inquiry = .none
        guard status == 200, let identity = SessionInfo.identity(answer) else {
            return .failed(Failure(.unusable, "AM does not say whose session the link has won (\(status))"))
        }
        return goesOn(&self, identity)
    }

    // MARK: calls

    private struct Call {
        var body: [UInt8] = []
        var query: [NamedText] = []
        var action = Action.authenticate
        var carriesAnswers = false
        var isPoll = false
    }

    private mutating func call(_ wanted: Call) -> Order {
        if !wanted.isPoll {
            guard steps < policy.maxSteps else {
                return .failed(Failure(.tooManySteps, "AM asks for more than the \(policy.maxSteps) calls allowed"))
            }
            steps += 1
        }
        calls += 1
        do throws(HTTPFault) {
            // the claims of the authId hold the index, so that only the first call names it (docs/protocol.md#calls-to-am)
            var url = try policy.server.authenticateURL(realm: realm)
            for parameter in wanted.query {
                url += url.utf8.contains(0x3F) ? "&" : "?"
                url += "\(PercentCoding.encode(parameter.name))=\(PercentCoding.encode(parameter.text))"
            }
            var head = try RequestHead(method: "POST", url: url)
            addFields(to: &head, version: "protocol=1.0,resource=2.1")
            return .send(
                ServerCall(
                    head: head, body: wanted.body, number: calls, action: wanted.action, payload: goal.payload,
                    carriesAnswers: wanted.carriesAnswers))
        } catch {
            return .failed(Failure(.unusable, "the authenticate URL cannot be made: \(error.explanation)"))
        }
    }

    private func addFields(to head: inout RequestHead, version: String, session token: String? = nil) {
        head.fields.add("Accept", "application/json")
        head.fields.add("Accept-API-Version", version)
        head.fields.add("Content-Type", "application/json")
        head.fields.add("X-Requested-With", Self.requestedWith)
        for field in manners { head.fields.add(field.name, field.value) }
        let cookieLine = cookieLine(token ?? goal.session?.token)
        if !cookieLine.isEmpty { head.fields.add("Cookie", cookieLine) }
    }

    /// AM's guard against cross-site requests asks for this field or for a version field; scripts in trees know by
    /// its value that a program asks, which wants callbacks and no page.
    static let requestedWith = "forgerock-sdk"

    private func cookieLine(_ token: String?) -> String {
        var line = CookieText(token.map { "\(policy.server.cookie)=\($0)" } ?? "")
        for pair in cookies.pairs { line.set(pair.name, pair.value) }
        return line.text
    }

    // MARK: outcome

    private mutating func absorbCookies(_ fields: FieldTable) {
        cookies.absorb(fields, except: policy.server.cookie)
        let lines = fields.values(named: "Set-Cookie").filter {
            SetCookie($0)?.name == SessionSource.affinityCookie
        }
        if !lines.isEmpty { affinityLines = lines }
    }

    /// The new session is in `Set-Cookie` first and in `tokenId` second; either may be missing (docs/protocol.md#how-it-ends).
    private mutating func ended(_ answer: JSONValue, _ fields: FieldTable) -> Order {
        let success = "AM reports success after \(LogText.count(calls, "call"))"
        guard goal.winsSession else {
            note("\(success); a transaction leaves the session as it is")
            return .succeeded(Outcome())
        }
        guard let won = WonSession(answer, fields, cookie: policy.server.cookie),
            goal.session?.isSame(as: won.token) != true
        else {
            guard goal.session != nil else { return .failed(Failure(.unusable, "\(success) and gives no session")) }
            note("\(success); the session stays")
            return .succeeded(Outcome())
        }
        note("\(success) and gives a new session")
        return .succeeded(
            Outcome(
                session: won.token, affinity: cookies[SessionSource.affinityCookie],
                setCookieLines: won.lines + affinityLines))
    }

    /// What tells this login from others: which answers it gives to whom, and for whose session.
    public var login: Login {
        let given = policy.answers.flatMap(\.parts)
        let token = goal.session?.token ?? ""
        // where a person gives all of them, they are those of the session's own user
        let whose = given.isEmpty && policy.asksPerson ? [token] : given
        return Login(
            answers: [policy.server.url, realm] + whose, session: token, at: "\(policy.server.url) \(realm)")
    }

    private mutating func note(_ sentence: String) { notes.append(sentence) }
}
