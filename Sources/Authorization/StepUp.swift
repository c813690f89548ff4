internal import Formats
public import HTTPCodec
internal import Interception

/// One authentication at AM, from an advice to a session: a value that is given answers and says what to do next. It
/// knows no connection and no clock; the limit on its whole time (`hold`) is kept by whoever drives it.
///
/// Calls go to the configured server and nowhere else, whatever the advice names: they carry the user's session.
public struct StepUp: Sendable {
    private let policy: AuthorizationPolicy
    private let advice: Advice
    private let session: SessionSource
    private let document: String
    /// Where AM is asked.
    public let realm: String
    private var cookies = ServerCookies()
    private var affinityLines: [String] = []
    private var calls = 0
    /// The step that is sent back when the wait is over.
    private var waiting: JSONValue?
    /// The step that a person is asked for, and what of it is open.
    private var asked: (step: JSONValue, open: OpenStep)?
    private var notes: [String] = []
    private var given = GivenAnswers()
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
        self.advice = advice
        self.session = session
        document = advice.xml
        self.realm = realm
        if let named = advice.amURI, (try? RequestHead(method: "GET", url: named)).map(policy.server.signsIn) != true {
            note("the advice names another server, \(LogText.shown(named)); only \(policy.server.url) is asked")
        }
        if let affinity = session.affinity { cookies.set(SessionSource.affinityCookie, affinity) }
    }

    /// What happened since the last time this was asked, a sentence each, without secrets.
    public mutating func takeNotes() -> [String] {
        defer { notes.removeAll() }
        return notes
    }

    // MARK: events

    public mutating func begin() -> Order {
        if let refusal = advice.refusal { return .failed(Failure(.unusable, refusal)) }
        guard SessionSource.isUsable(session.token) else {
            return .failed(Failure(.unusable, "the session holds characters that no cookie can carry"))
        }
        note("authenticating in realm \(realm) for \(advice.summary)")
        return call(body: [])
    }

    /// AM's answer to the last call, whole.
    public mutating func answered(status: Int, fields: FieldTable, body: [UInt8]) -> Order {
        guard body.count <= policy.maxResponseBytes else {
            return .failed(
                Failure(.tooLarge, "AM's answer is larger than the \(policy.maxResponseBytes) bytes allowed"))
        }
        let answer = try? JSONValue(parsing: body)
        let hasStep = answer?["authId"]?.text.map { !$0.isEmpty } ?? false
        guard status == 200 else {
            return .failed(ResponseFault.failure(status: status, answer: answer, hasStep: hasStep))
        }
        guard let answer, answer.members != nil else {
            return .failed(Failure(.notJSON, "AM answered 200 with a body that is no JSON object"))
        }
        absorbCookies(fields)
        guard hasStep else { return .succeeded(outcome(answer, fields)) }
        return proceed(with: answer)
    }

    /// Fills a step, and sends it where nobody has to be asked for anything more.
    private mutating func proceed(with step: JSONValue, told: PersonAnswers = PersonAnswers()) -> Order {
        do throws(Failure) {
            let filled = try CallbackStep.fill(
                step, answers: policy.answers, told: told, asks: policy.person.isAsked)
            let stage = step["stage"]?.text ?? ""
            guard filled.open.isEmpty else {
                return ask(OpenStep(.callbacks(filled.open), stage: stage, header: step["header"]?.text ?? ""), step)
            }
            let page = filled.step["callbacks"]?.serialized ?? ""
            if let again = given.add(filled.given, stage: stage, page: page) {
                throw Failure(.refused, ResponseFault.askedAgain(again))
            }
            note("step \(calls): \(filled.description)")
            guard let wait = filled.wait else {
                return call(body: Array(filled.step.serialized.utf8), carriesAnswers: !filled.given.isEmpty)
            }
            waiting = filled.step
            return .wait(milliseconds: min(wait, policy.hold))
        } catch {
            return .failed(error)
        }
    }

    /// The wait is over.
    public mutating func woke() -> Order {
        guard let step = waiting else { return .failed(Failure(.cancelled, "woken without having waited")) }
        waiting = nil
        return call(body: Array(step.serialized.utf8))
    }

    // MARK: a person

    private mutating func ask(_ open: OpenStep, _ step: JSONValue) -> Order {
        asked = (step, open)
        note("step \(calls): a person is asked for \(open.summary)")
        return .ask(open)
    }

    /// The step that waits for a person.
    public var open: OpenStep? { asked?.open }

    /// What a person says to the step that is open, all of it.
    /// - Throws: why that is no answer, in words for the person. The step stays open.
    public mutating func told(_ answers: PersonAnswers) throws(OpenStep.Refusal) -> Order {
        guard let asked else { throw OpenStep.Refusal("nobody is asked for anything") }
        if let refusal = asked.open.refusal(of: answers) { throw refusal }
        let missing = asked.open.missing(in: answers)
        if !missing.isEmpty {
            throw OpenStep.Refusal("\(missing.map(\.shown).joined(separator: ", ")) is still to be answered")
        }
        self.asked = nil
        return proceed(with: asked.step, told: answers)
    }

    /// The person says no.
    public mutating func denied() -> Order {
        asked = nil
        return .failed(Failure(.unanswered, "a person denied it"))
    }

    // MARK: calls

    private mutating func call(body: [UInt8], carriesAnswers: Bool = false) -> Order {
        guard calls < policy.maxSteps else {
            return .failed(Failure(.tooManySteps, "AM asks for more than the \(policy.maxSteps) calls allowed"))
        }
        calls += 1
        // the claims of the authId hold the index, so that only the first call names it (docs/protocol.md#calls-to-am)
        let isFirst = calls == 1
        do throws(HTTPFault) {
            var url = try policy.server.authenticateURL(realm: realm)
            if isFirst {
                url += url.utf8.contains(0x3F) ? "&" : "?"
                url += "authIndexType=composite_advice&authIndexValue=\(PercentCoding.encode(document))"
            }
            var head = try RequestHead(method: "POST", url: url)
            head.fields.add("Accept", "application/json")
            head.fields.add("Accept-API-Version", "protocol=1.0,resource=2.1")
            head.fields.add("Content-Type", "application/json")
            head.fields.add("X-Requested-With", Self.requestedWith)
            for field in manners { head.fields.add(field.name, field.value) }
            head.fields.add("Cookie", cookieLine)
            return .send(
                ServerCall(
                    head: head, body: body, number: calls, action: isFirst ? .startAuthenticate : .authenticate,
                    payload: ActionPayload(tree: document, type: "composite_advice"), carriesAnswers: carriesAnswers))
        } catch {
            return .failed(Failure(.unusable, "the authenticate URL cannot be made: \(error.explanation)"))
        }
    }

    /// AM's guard against cross-site requests asks for this field or for a version field; scripts in trees know by
    /// its value that a program asks, which wants callbacks and no page.
    private static let requestedWith = "forgerock-sdk"

    private var cookieLine: String {
        var line = CookieText("\(policy.server.cookie)=\(session.token)")
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
    private mutating func outcome(_ answer: JSONValue, _ fields: FieldTable) -> Outcome {
        guard advice.isUpgrade else {
            note("AM reports success after \(LogText.count(calls, "call")); a transaction leaves the session as it is")
            return Outcome()
        }
        let lines = fields.values(named: "Set-Cookie").filter { line in
            guard let cookie = SetCookie(line), cookie.name == policy.server.cookie else { return false }
            return !cookie.deletes && SessionSource.isUsable(cookie.value)
        }
        let token = lines.first.flatMap { SetCookie($0)?.value } ?? answer["tokenId"]?.text
        guard let token, token != session.token, SessionSource.isUsable(token) else {
            note("AM reports success after \(LogText.count(calls, "call")); the session stays")
            return Outcome()
        }
        note("AM reports success after \(LogText.count(calls, "call")) and gives a new session")
        return Outcome(
            session: token, affinity: cookies[SessionSource.affinityCookie], setCookieLines: lines + affinityLines)
    }

    /// What tells this login from others: which answers it gives to whom, and for whose session.
    public var login: Login {
        let given = policy.answers.flatMap(\.parts)
        // where a person gives all of them, they are those of the session's own user
        let whose = given.isEmpty && policy.asksPerson ? [session.token] : given
        return Login(
            answers: [policy.server.url, realm] + whose, session: session.token, at: "\(policy.server.url) \(realm)")
    }

    private mutating func note(_ sentence: String) { notes.append(sentence) }
}
