internal import Formats
public import HTTPCodec
internal import Interception

/// One authentication at AM, from an advice or a tree to a session. A state machine that takes responses and returns the next
/// step; no I/O, no clock. The driver enforces the total time limit (`hold`).
///
/// Calls carry the user's session, so they go only to the configured server, whatever an advice names.
public struct StepUp: Sendable {
    private let policy: AuthorizationPolicy
    let goal: Goal
    /// The realm of the calls.
    public let realm: String
    private var cookies = ServerCookies()
    private var affinityLines: [String] = []
    private var calls = 0
    /// The calls that count against the limit.
    private var steps = 0
    private var journey: Journey
    /// The question about sessions that is under way, outside of the tree.
    private var inquiry = Inquiry.none
    /// True after a link continued the tree. The link does not say which user it is for.
    private var isResumed = false
    private var notes: [String] = []
    /// The app's `User-Agent` and `Accept-Language`. AM uses them to select prompts and pages.
    private let manners: [(name: String, value: String)]

    /// - Parameters:
    /// - realm: a configured realm, as the policy judged.
    /// - app: the app's own request.
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

    /// A login by a tree for a session of Usher, with the policy's answers.
    /// - Parameters:
    /// - tree: nil for the realm's default tree.
    /// - users: the user's names, as far as known.
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

    /// The events since the last call, one sentence each, without secrets.
    public mutating func takeNotes() -> [String] {
        defer { notes.removeAll() }
        return notes
    }

    /// True if the response to the last call may end the tree and replace the session. AM completes that even if the response is
    /// lost.
    public var mayWin: Bool {
        guard goal.winsSession else { return false }
        switch inquiry {
        case .none: return !journey.isMessaging
        case .newOwner: return true
        case .user, .oldOwner: return false
        }
    }

    // MARK: events

    public mutating func begin(_ now: Circumstances = Circumstances()) -> Command {
        if let refusal = goal.refusal { return .failed(Failure(.unusable, refusal)) }
        note("authenticating in realm \(realm) for \(goal.summary)")
        journey.asksAM(now)
        return call(Call(query: goal.query, action: .startAuthenticate))
    }

    /// Handles AM's complete response to the last call.
    public mutating func answered(
        status: Int, fields: FieldTable, body: [UInt8], _ now: Circumstances = Circumstances()
    ) -> Command {
        guard body.count <= policy.maxResponseBytes else {
            return .failed(
                Failure(.tooLarge, "AM's response is larger than the \(policy.maxResponseBytes) bytes allowed"))
        }
        let answer = try? JSONValue(parsing: body)
        if let order = toldInquiry(status, answer, now) { return order }
        if journey.isMessaging { return next { (journey) throws(Failure) in try journey.messaged(status, now) } }
        let authId = answer?["authId"]?.text ?? ""
        guard status == 200 else {
            return .failed(ResponseFault.failure(status: status, answer: answer, hasStep: !authId.isEmpty))
        }
        guard let answer, answer.members != nil else {
            return .failed(Failure(.notJSON, "AM responded with 200 and a body that is not a JSON object"))
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

    /// The limit of an `authId` in bytes. Without state in AM it contains the tree's state, about ten KiB.
    private static let maxAuthId = 256 << 10

    /// True for a suspended tree, which may have no `authId`.
    private static func isSuspended(_ answer: JSONValue) -> Bool {
        answer["callbacks"]?.items?.contains { Callback($0).kind == .suspended } ?? false
    }

    /// Continues after a wait.
    public mutating func woke(_ now: Circumstances = Circumstances()) -> Command {
        next { (journey) throws(Failure) in try journey.woke(now) }
    }

    /// True if the answers wait for permission to be sent. One-time passwords are generated on wake-up, so a login that may not
    /// begin spends none. With a person involved, no permission was requested earlier.
    public var isAtTurn: Bool { journey.isAtTurn }

    private mutating func next(_ event: (inout Journey) throws(Failure) -> Journey.Next) -> Command {
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
            return call(Call(step.step, query: step.query, carriesAnswers: !step.given.isEmpty))
        case .poll(let step): return call(Call(step, isPoll: true))
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

    /// Handles a person's complete answers to the open step.
    /// - Throws: the reason why they are invalid, worded for the person. The step stays open.
    public mutating func told(
        _ answers: PersonAnswers, _ now: Circumstances = Circumstances()
    ) throws(OpenStep.Refusal) -> Command {
        guard let open = journey.open else { throw OpenStep.Refusal("nobody is asked for anything") }
        if let refusal = open.refusal(of: answers) { throw refusal }
        let missing = open.missing(in: answers)
        if !missing.isEmpty {
            throw OpenStep.Refusal("\(missing.map(\.shown).joined(separator: ", ")) has no answer yet")
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

    /// Handles a person's denial.
    public mutating func denied() -> Command {
        journey.rest()
        return .failed(Failure(.unanswered, "a person denied it"))
    }

    // MARK: the user

    /// Asks AM for the session's user, because the answers depend on it.
    private mutating func askUser() -> Command {
        inquiry = .user
        note("Usher asks AM for the session's user, because answers depend on it")
        return askInfo(of: goal.session?.token)
    }

    private mutating func askInfo(of token: String?) -> Command {
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

    private mutating func toldUser(_ status: Int, _ answer: JSONValue?, _ now: Circumstances) -> Command {
        inquiry = .none
        let names = SessionInfo.names(answer)
        guard status == 200, !names.isEmpty else {
            return .failed(
                Failure(
                    .unusable, "AM does not name the session's user (\(status)), and answers depend on it"))
        }
        return next { (journey) throws(Failure) in try journey.named(names, now) }
    }

    // MARK: the owner of a link's session

    private enum Inquiry {
        case none
        /// The owner of the session to step up, because the answers depend on it.
        case user
        /// The owner of the session to step up. A new session must have the same owner.
        case oldOwner(Outcome, new: String)
        /// The owner of the new session.
        case newOwner(Outcome, old: String)
    }

    /// - Returns: nil if no question was under way.
    private mutating func toldInquiry(_ status: Int, _ answer: JSONValue?, _ now: Circumstances) -> Command? {
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

    /// Checks the owner of a session that a link produced. The link may be of another user's tree, and that session must not
    /// reach this app.
    private mutating func askOwner(of won: Outcome, new: String, old: String) -> Command {
        inquiry = .oldOwner(won, new: new)
        note("AM is asked whose session the link has won")
        return askInfo(of: old)
    }

    private mutating func toldOwner(
        _ status: Int, _ answer: JSONValue?, _ goesOn: (inout StepUp, String) -> Command
    ) -> Command {
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

        init(query: [NamedText], action: Action) { (self.query, self.action) = (query, action) }

        /// Returns a step to AM.
        init(_ step: JSONValue, query: [NamedText] = [], carriesAnswers: Bool = false, isPoll: Bool = false) {
            step.write(to: &body)
            (self.query, self.carriesAnswers, self.isPoll) = (query, carriesAnswers, isPoll)
        }
    }

    private mutating func call(_ wanted: Call) -> Command {
        if !wanted.isPoll {
            guard steps < policy.maxSteps else {
                return .failed(Failure(.tooManySteps, "AM asks for more than the \(policy.maxSteps) calls allowed"))
            }
            steps += 1
        }
        calls += 1
        do throws(HTTPFault) {
            // the authId contains the index, so only the first call names it (docs/protocol.md#calls-to-am)
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

    /// The value of `X-Requested-With`. AM's CSRF filter requires this field or a version field. Scripts in trees use the value
    /// to recognise a program that needs callbacks and no page.
    static let requestedWith = "forgerock-sdk"

    private func cookieLine(_ token: String?) -> String {
        var line = CookieText(token.map { "\(policy.server.cookie)=\($0)" } ?? "")
        for pair in cookies.pairs { line.set(pair.name, pair.value) }
        return line.text
    }

    // MARK: outcome

    private mutating func absorbCookies(_ fields: FieldTable) {
        let lines = cookies.absorb(fields, except: policy.server.cookie)
        if !lines.isEmpty { affinityLines = lines }
    }

    /// Reads the new session from `Set-Cookie`, else from `tokenId`. Either may be missing (docs/protocol.md#how-it-ends).
    private mutating func ended(_ answer: JSONValue, _ fields: FieldTable) -> Command {
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

    /// The identity of this login: its answers and its session.
    public var login: Login {
        let given = policy.answers.flatMap(\.parts)
        let token = goal.session?.token ?? ""
        // if a person gives all answers, they belong to the session's user
        let whose = given.isEmpty && policy.asksPerson ? [token] : given
        return Login(
            answers: [policy.server.url, realm] + whose, session: token, at: "\(policy.server.url) \(realm)")
    }

    private mutating func note(_ sentence: String) { notes.append(sentence) }
}
