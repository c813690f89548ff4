import Authorization
import Formats
import HTTPCodec
import Interception
import Testing

@Suite("Step-up")
struct StepUpTests {
    static let transaction = Advice(
        source: .header, realm: "/", conditions: [.init("TransactionConditionAdvice", ["t-1"])])
    static let upgrade = Advice(
        source: .header, realm: "/", conditions: [.init("AuthenticateToServiceConditionAdvice", ["/:StepUp"])])

    private static let name =
        "{\"type\":\"NameCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"User Name\"}],"
        + "\"input\":[{\"name\":\"IDToken1\",\"value\":\"\"}],\"_id\":0}"
    private static let password =
        "{\"type\":\"PasswordCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"Password\"}],"
        + "\"input\":[{\"name\":\"IDToken7\",\"value\":\"\"}],\"_id\":1}"

    private static let message =
        "{\"type\":\"TextOutputCallback\",\"output\":[{\"name\":\"message\",\"value\":\"Wait\"}]}"

    private func answering(_ answers: AuthorizationPolicy.CallbackAnswer...) -> AuthorizationPolicy {
        var policy = policy()
        policy.answers = answers
        return policy
    }

    private func robot() -> AuthorizationPolicy {
        answering(
            .init(callback: "NameCallback", response: .value("robot")),
            .init(callback: "PasswordCallback", prompt: "*one*time*", response: .value("000000")),
            .init(callback: "PasswordCallback", response: .value("s3cret\"\\")))
    }

    /// The order that follows when the first answer is a step of these callbacks.
    private func next(_ callbacks: String, _ policy: AuthorizationPolicy) -> StepUp.Command {
        var stepUp = StepUp(policy: policy, advice: Self.transaction, session: "SESSION-A")
        _ = stepUp.begin()
        return stepUp.answered(status: 200, fields: fields(json), body: step("a1", callbacks))
    }

    // MARK: the dance

    @Test func aTransactionFromFirstCallToSuccess() throws {
        var stepUp = StepUp(policy: robot(), advice: Self.transaction, session: "SESSION-A", affinity: "01")
        let first = try #require(stepUp.begin().call)
        #expect(first.head.fields["Cookie"] == "iPlanetDirectoryPro=SESSION-A; amlbcookie=01")
        #expect(first.number == 1 && first.action == .startAuthenticate && first.body.isEmpty)
        #expect(first.payload == ActionPayload(tree: Self.transaction.xml, type: "composite_advice"))

        let second = try #require(
            stepUp.answered(
                status: 200,
                fields: fields(json + [("Set-Cookie", "route=n1; Path=/"), ("set-cookie", "amlbcookie=02")]),
                body: step("a1", Self.name + "," + Self.password)
            ).call)
        #expect(second.head.url == "https://am.example.test/am/json/realms/root/authenticate")
        #expect(second.head.fields["Cookie"] == "iPlanetDirectoryPro=SESSION-A; amlbcookie=02; route=n1")
        #expect(second.head.fields["Accept-API-Version"] == "protocol=1.0,resource=2.1")
        #expect(second.number == 2 && second.action == .authenticate && second.payload == first.payload)
        let expected =
            "{\"authId\":\"a1\",\"callbacks\":["
            + Self.name.replacing("1\",\"value\":\"", with: "1\",\"value\":\"robot")
            + "," + Self.password.replacing("7\",\"value\":\"", with: "7\",\"value\":\"s3cret\\\"\\\\")
            + "],\"stage\":\"Any\"}"
        #expect(second.text == expected)

        // asked for something else: the newest authId goes back
        let code = Self.password.replacing("\"Password\"", with: "\"One time code\"")
        let third = try #require(stepUp.answered(status: 200, fields: fields(json), body: step("a2", code)).call)
        #expect(third.json?["authId"]?.text == "a2")
        #expect(third.json?["callbacks"]?.items?.count == 1)

        let end = stepUp.answered(
            200, "{\"tokenId\":\"SESSION-B\",\"successUrl\":\"/console\",\"realm\":\"/\"}",
            json + [("Set-Cookie", "iPlanetDirectoryPro=SESSION-C; Path=/")])
        #expect(end.outcome == StepUp.Outcome())

        let notes = stepUp.takeNotes()
        #expect(notes.contains("step 1: NameCallback, PasswordCallback answered"))
        #expect(notes.contains("step 2: PasswordCallback answered"))
        let all = notes.joined(separator: "\n")
        for secret in ["SESSION", "robot", "s3cret", "t-1", "a1", "a2"] { #expect(!all.contains(secret)) }
        #expect(stepUp.takeNotes().isEmpty)
    }

    @Test func whatMakesANewSession() {
        func outcome(_ body: String, _ cookies: String...) -> StepUp.Outcome? {
            var stepUp = StepUp(policy: policy(), advice: Self.upgrade, session: "SESSION-A")
            _ = stepUp.begin()
            return stepUp.answered(200, body, json + cookies.map { ("Set-Cookie", $0) }).outcome
        }
        #expect(outcome("{\"tokenId\":\"B\"}") == .init(session: "B"))
        let line = "iPlanetDirectoryPro=C;path=/;domain=.example.test;secure;httponly"
        #expect(outcome("{\"tokenId\":\"B\"}", line) == .init(session: "C", setCookieLines: [line]))
        #expect(
            outcome("{}", line, "amlbcookie=03; Path=/")
                == .init(session: "C", affinity: "03", setCookieLines: [line, "amlbcookie=03; Path=/"]))
        #expect(outcome("{\"tokenId\":\"B\"}", "iPlanetDirectoryPro=LOGOUT; Path=/") == .init(session: "B"))
        #expect(outcome("{\"tokenId\":\"B\"}", "other=C") == .init(session: "B"))
        for kept in [
            "{}", "{\"tokenId\":\"\"}", "{\"tokenId\":null}", "{\"tokenId\":\"SESSION-A\"}", "{\"tokenId\":7}",
        ] {
            #expect(outcome(kept) == .init())
        }
        #expect(outcome("{\"tokenId\":\"a\\r\\nX-Y: z\"}") == .init())
        #expect(outcome("{\"tokenId\":\"a; b=c\"}") == .init())
    }

    // MARK: where the calls go

    @Test func realmsAndServers() throws {
        func begin(
            _ realm: String, _ address: String?, _ policy: AuthorizationPolicy = policy()
        )
            throws -> (url: String, notes: [String])
        {
            let advice = Advice(
                source: .header, amURI: address, conditions: [.init("AuthLevelConditionAdvice", ["3"])])
            var stepUp = StepUp(policy: policy, advice: advice, session: "S", realm: realm)
            let call = try #require(stepUp.begin().call)
            return (String(call.head.url.prefix { $0 != "?" }), stepUp.takeNotes())
        }
        let root = "https://am.example.test/am/json/realms/root/authenticate"
        let alpha = "https://am.example.test/am/json/realms/root/realms/alpha/authenticate"
        #expect(try begin("/", nil) == (root, ["authenticating in realm / for AuthLevelConditionAdvice"]))
        #expect(try begin("/alpha", nil).url == alpha)

        let evil = try begin("/", "https://evil.example.test/am\u{7}\n")
        #expect(evil.url == root)
        #expect(evil.notes.first?.contains("another server, https://evil.example.test/am") == true)
        #expect(evil.notes.first?.contains("\n") == false)
        #expect(try begin("/", "https://AM.example.test:443/am/").notes.count == 1)
        #expect(try begin("/", "https://am.example.test:8443/am/").notes.count == 2)
        var elsewhere = policy()
        elsewhere.server.loginPages = ["https://login.example.test/"]
        #expect(try begin("/", "https://login.example.test/sign-in", elsewhere).notes.count == 1)

        var moved = policy()
        moved.server.paths[.authenticate] = "/auth/login"
        #expect(try begin("/alpha", nil, moved).url == "https://am.example.test/auth/login")
        var broken = policy()
        broken.server.url = "am.example.test/am"
        var stepUp = StepUp(policy: broken, advice: Self.upgrade, session: "S")
        #expect(stepUp.begin().failure?.code == .unusable)
    }

    @Test func aSessionThatCouldSmuggleIsNotSent() {
        for token in ["", "a\r\nHost: evil", "a; b=c", "a b", "a\u{0}"] {
            var stepUp = StepUp(policy: policy(), advice: Self.transaction, session: token)
            #expect(stepUp.begin().failure?.code == .unusable)
        }
    }

    @Test func cookiesOfTheServerComeBackToIt() throws {
        var stepUp = StepUp(policy: robot(), advice: Self.transaction, session: "S")
        _ = stepUp.begin()
        let set = (0..<100).map { ("Set-Cookie", "c\($0)=v") }
        let many = try #require(
            stepUp.answered(status: 200, fields: fields(json + set), body: step("a", Self.name)).call)
        #expect(CookieText(many.head.fields["Cookie"] ?? "").names.count == 33)
        let gone = [("Set-Cookie", "c0=; Max-Age=0"), ("Set-Cookie", "iPlanetDirectoryPro=OTHER")]
        let next = try #require(
            stepUp.answered(status: 200, fields: fields(json + gone), body: step("a", Self.message)).call)
        let cookies = CookieText(next.head.fields["Cookie"] ?? "")
        #expect(cookies["c0"] == nil && cookies["c1"] == "v" && cookies["iPlanetDirectoryPro"] == "S")
    }

    // MARK: failures

    @Test(arguments: [
        (401, "{\"code\":401,\"detail\":{\"errorCode\":\"128\"}}", StepUp.Failure.Code.transactionUnreadable),
        (401, "{\"code\":401,\"detail\":{\"errorCode\":128}}", .transactionUnreadable),
        (401, "{\"code\":401,\"message\":\"no\",\"detail\":{\"errorCode\":\"107\"}}", .denied), (401, "", .denied),
        (401, "{\"detail\":{\"errorCode\":\"110\"}}", .expired), (408, "", .expired),
        (401, "{\"authId\":\"a\",\"failure\":true}", .unsupportedCallback), (400, "{}", .badCall),
        (403, "{}", .unexpectedStatus), (302, "", .unexpectedStatus), (201, "{}", .unexpectedStatus),
        (500, "<html>", .unexpectedStatus), (200, "<html></html>", .notJSON), (200, "", .notJSON),
        (200, "[]", .notJSON), (200, "{\"authId\":\"a\"}", .unsupportedCallback),
        (200, "{\"authId\":\"a\",\"callbacks\":{}}", .unsupportedCallback),
    ])
    func answersThatFail(_ status: Int, _ body: String, _ code: StepUp.Failure.Code) {
        var stepUp = StepUp(policy: policy(), advice: Self.transaction, session: "SESSION-A")
        _ = stepUp.begin()
        let failure = stepUp.answered(status, body).failure
        #expect(failure?.code == code)
        #expect(failure?.reason.contains("SESSION-A") == false)
    }

    @Test func largeAndDeepAnswersFail() {
        var small = policy()
        small.maxResponseBytes = 64
        var stepUp = StepUp(policy: small, advice: Self.transaction, session: "S")
        _ = stepUp.begin()
        #expect(
            stepUp.answered(200, "{\"x\":\"" + String(repeating: "a", count: 100) + "\"}").failure?.code == .tooLarge)
        var other = StepUp(policy: policy(), advice: Self.transaction, session: "S")
        _ = other.begin()
        let deep = "{\"authId\":\"a\",\"callbacks\":" + String(repeating: "[", count: 100_000)
        #expect(other.answered(200, deep).failure?.code == .notJSON)
    }

    @Test func stepsAreBounded() {
        var policy = robot()
        policy.maxSteps = 3
        var stepUp = StepUp(policy: policy, advice: Self.transaction, session: "S")
        var order = stepUp.begin()
        var calls = 0
        while order.call != nil {
            calls += 1
            order = stepUp.answered(status: 200, fields: fields(json), body: step("a", Self.message))
        }
        #expect(calls == 3)
        #expect(order.failure?.code == .tooManySteps)
    }

    @Test func unansweredCallbacksAreNamed() {
        let failure = next(
            Self.name + "," + Self.password, answering(.init(callback: "NameCallback", response: .value("x")))
        )
        .failure
        #expect(failure == .init(.unanswered, "no answer is configured for PasswordCallback \"Password\""))
        let unknown =
            "{\"type\":\"IrisCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"Look\\r\\nhere\"}],\"input\":[{\"name\":\"x\",\"value\":\"\"}]}"
        #expect(
            next(unknown, robot()).failure
                == .init(
                    .unsupportedCallback,
                    "Usher does not know IrisCallback \"Look  here\"; answer it with inputs: { NAME: TEXT } (it has x)"
                ))
        #expect(next(unknown.replacing(",\"input\":[{\"name\":\"x\",\"value\":\"\"}]", with: ""), robot()).call != nil)
        for type in ["RedirectCallback", "IdPCallback", "DeviceSigningVerifierCallback", "ReCaptchaCallback"] {
            let text = "{\"type\":\"\(type)\",\"input\":[{\"name\":\"x\",\"value\":\"\"}]}"
            #expect(next(text, robot()).failure?.code == .unsupportedCallback)
        }
        let suspended =
            "{\"type\":\"SuspendedTextOutputCallback\",\"output\":[{\"name\":\"message\",\"value\":\"mail\"}]}"
        #expect(next(suspended, robot()).failure?.code == .suspended)
        for odd in ["7", "{}", "{\"type\":\"NameCallback\"}", "{\"type\":\"NameCallback\",\"input\":[{}]}", "null"] {
            let order = next(odd, robot())
            #expect(order.call != nil || order.failure != nil)
        }
    }

    // MARK: callbacks

    @Test func theFirstAnswerWhosePromptFitsIsTaken() {
        let code = Self.password.replacing("\"Password\"", with: "\"ONE TIME code\"")
        #expect(next(code, robot()).call?.input(0) == .string("000000"))
        #expect(next(Self.password, robot()).call?.input(0) == .string("s3cret\"\\"))
        let text = Self.name.replacing("NameCallback", with: "TextInputCallback")
        #expect(
            next(text, answering(.init(callback: "TextInputCallback", response: .value("x")))).call?.input(0)
                == .string("x"))
    }

    @Test(arguments: [
        ("Yes", 1), ("yes", 1), ("Y*", 1), ("NO", 0), ("1", 1), ("*", 0), ("Maybe", nil), ("7", nil), ("", nil),
    ])
    func choicesByLabel(_ label: String, _ index: Int?) {
        let choice =
            "{\"type\":\"ChoiceCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"Approve?\"},"
            + "{\"name\":\"choices\",\"value\":[\"No\",\"Yes\"]},{\"name\":\"defaultChoice\",\"value\":0}],"
            + "\"input\":[{\"name\":\"IDToken1\",\"value\":0}]}"
        let order = next(
            choice, answering(.init(callback: "ChoiceCallback", prompt: "approve*", response: .choose(label))))
        #expect(order.call?.input(0)?.integer == index)
        if index == nil { #expect(order.failure?.code == .unanswered) }
        if !label.isEmpty, let reason = order.failure?.reason { #expect(!reason.contains(label)) }
    }

    @Test(arguments: [
        ("\"options\",\"value\":[\"Go on\",\"Stop\"]", "stop", 1), ("\"optionType\",\"value\":0", "No", 1),
        ("\"optionType\",\"value\":1", "cancel", 2), ("\"optionType\",\"value\":2", "ok", 3),
        ("\"optionType\",\"value\":-1", "ok", nil),
    ])
    func confirmations(_ output: String, _ label: String, _ number: Int?) {
        let text =
            "{\"type\":\"ConfirmationCallback\",\"output\":[{\"name\":\(output)}],\"input\":[{\"name\":\"IDToken2\",\"value\":100}]}"
        let order = next(text, answering(.init(callback: "ConfirmationCallback", response: .choose(label))))
        #expect(order.call?.input(0)?.integer == number)
    }

    @Test func attributesKeepTheirTypes() {
        func filled(_ type: String, _ answer: String) -> StepUp.Command {
            let text =
                "{\"type\":\"\(type)\",\"output\":[],\"input\":[{\"name\":\"IDToken1validateOnly\",\"value\":false},{\"name\":\"IDToken1\",\"value\":null}]}"
            return next(text, answering(.init(callback: type, response: .value(answer))))
        }
        func value(_ type: String, _ answer: String) -> JSONValue? {
            filled(type, answer).call?.json?["callbacks"]?[0]?["input"]?[1]?["value"]
        }
        #expect(value("StringAttributeInputCallback", "a") == .string("a"))
        #expect(value("NumberAttributeInputCallback", "4.50") == .number("4.50"))
        #expect(value("BooleanAttributeInputCallback", "Yes") == .bool(true))
        #expect(value("TermsAndConditionsCallback", "true") == .bool(true))
        #expect(filled("NumberAttributeInputCallback", "\"4\"").failure?.code == .unanswered)
        #expect(filled("BooleanAttributeInputCallback", "perhaps").failure?.code == .unanswered)
        let wrong = answering(.init(callback: "NameCallback", response: .choose("x")))
        #expect(next(Self.name, wrong).failure?.code == .unanswered)
    }

    @Test func callbacksWithoutAnswerGoBackAsTheyCame() {
        let text =
            "{\"type\":\"TextOutputCallback\",\"output\":[{\"name\":\"message\",\"value\":\"x\"},{\"name\":\"messageType\",\"value\":\"4\"}]}"
        let meta =
            "{\"type\":\"MetadataCallback\",\"output\":[{\"name\":\"data\",\"value\":{\"stage\":\"StepUp\",\"n\":1.50}}]}"
        let hidden =
            "{\"type\":\"HiddenValueCallback\",\"output\":[{\"name\":\"value\",\"value\":\"\"},{\"name\":\"id\",\"value\":\"hint\"}],\"input\":[{\"name\":\"IDToken3\",\"value\":\"hint\"}]}"
        let sent = next([text, meta, hidden].joined(separator: ","), policy()).call
        #expect(sent?.text == String(decoding: step("a1", [text, meta, hidden].joined(separator: ",")), as: UTF8.self))
    }

    @Test func devicesEndTheStepUpUnlessTheTreeIsToldToFallBack() {
        let meta =
            "{\"type\":\"MetadataCallback\",\"output\":[{\"name\":\"data\",\"value\":{\"_type\":\"WebAuthn\",\"_action\":\"webauthn_authentication\"}}]}"
        let hidden =
            "{\"type\":\"HiddenValueCallback\",\"output\":[{\"name\":\"id\",\"value\":\"webAuthnOutcome\"}],\"input\":[{\"name\":\"IDToken2\",\"value\":\"webAuthnOutcome\"}]}"
        #expect(next(meta + "," + hidden, robot()).failure?.code == .unsupportedCallback)
        #expect(next(hidden, robot()).failure?.reason.contains("WebAuthn") == true)
        let told = answering(
            .init(callback: "HiddenValueCallback", prompt: "webauthn*", response: .value("unsupported")))
        #expect(next(meta + "," + hidden, told).call?.input(1) == .string("unsupported"))
        let protect =
            "{\"type\":\"MetadataCallback\",\"output\":[{\"name\":\"data\",\"value\":{\"_type\":\"PingOneProtect\",\"_action\":\"protect_initialize\"}}]}"
        #expect(next(protect, robot()).failure?.reason.contains("Protect") == true)
    }

    @Test(arguments: [
        ("\"3000\"", 3_000), ("3000", 3_000), ("\"0\"", 100), ("\"-5\"", 100), ("\"soon\"", 8_000),
        ("\"99999999999\"", 45_000), ("null", 8_000),
    ])
    func pollingWaitsAndSendsTheStepUnchanged(_ time: String, _ milliseconds: Int) throws {
        let callbacks =
            "{\"type\":\"PollingWaitCallback\",\"output\":[{\"name\":\"waitTime\",\"value\":\(time)}]},"
            + "{\"type\":\"ConfirmationCallback\",\"output\":[{\"name\":\"options\",\"value\":[\"Exit\"]}],"
            + "\"input\":[{\"name\":\"IDToken2\",\"value\":100}]}"
        var stepUp = StepUp(
            policy: answering(.init(callback: "ConfirmationCallback", response: .choose("Exit"))),
            advice: Self.transaction, session: "S")
        _ = stepUp.begin()
        let order = stepUp.answered(status: 200, fields: fields(json), body: step("p1", callbacks))
        #expect(order.wait == milliseconds)
        let call = try #require(stepUp.woke().call)
        #expect(call.body == step("p1", callbacks))
        #expect(stepUp.woke().failure != nil)
        #expect(stepUp.answered(200, "{}").outcome != nil)
    }
}
