import Authorization
import Formats
import HTTPCodec
import Interception
import Testing

/// Trees that wait, go on elsewhere, do not take an answer, or do not end.
@Suite("Journeys")
struct JourneyTests {
    typealias Answer = AuthorizationPolicy.CallbackAnswer

    private func machine(
        _ answers: [Answer] = [], advice: Advice = StepUpTests.transaction,
        _ change: (inout AuthorizationPolicy) -> Void = { _ in }
    ) -> StepUp {
        var policy = policy()
        policy.answers = answers
        change(&policy)
        var machine = StepUp(policy: policy, advice: advice, session: "SESSION-A", realm: "/alpha")
        _ = machine.begin()
        return machine
    }

    private func page(_ callbacks: String) -> String { "{\"authId\":\"a\",\"callbacks\":[\(callbacks)]}" }

    // MARK: waiting

    private static let waiting =
        "{\"type\":\"PollingWaitCallback\",\"output\":[{\"name\":\"waitTime\",\"value\":\"2000\"},{\"name\":\"message\",\"value\":\"Look at your phone\"}]}"
    private static let buttons =
        "{\"type\":\"ConfirmationCallback\",\"output\":[{\"name\":\"options\",\"value\":[\"Exit\",\"Recovery code\"]},{\"name\":\"optionType\",\"value\":-1}],"
        + "\"input\":[{\"name\":\"IDToken2\",\"value\":100}]}"

    @Test func pollsHaveALimitOfTheirOwn() {
        var machine = machine { policy in
            policy.maxSteps = 2
            policy.maxPolls = 7
        }
        var polls = 0
        var order = machine.answered(200, page(Self.waiting))
        while order.wait == 2000 {
            order = machine.woke()
            guard order.call != nil else { break }
            polls += 1
            order = machine.answered(200, page(Self.waiting))
        }
        #expect(polls == 7)
        #expect(order.failure?.code == .tooManySteps)
        #expect(
            order.failure?.reason
                == "AM waits for something that does not come: it was asked 7 times, as often as authorization.limits.polls allows"
        )
    }

    @Test func aPageThatWaitsIsLeftByItsButton() throws {
        let exit = Answer(
            callback: "PollingWaitCallback", prompt: "*phone*", response: .leave(label: "recovery*", after: 3000))
        var machine = machine([exit])
        #expect(machine.answered(200, page(Self.waiting + "," + Self.buttons)).wait == 2000)
        #expect(machine.woke().call?.input(1)?.integer == 100)
        #expect(machine.answered(200, page(Self.waiting + "," + Self.buttons)).wait == 2000)
        #expect(machine.woke().call != nil)
        let call = try #require(machine.answered(200, page(Self.waiting + "," + Self.buttons)).call)
        #expect(call.json?["callbacks"]?[1]?["input"]?[0]?["value"]?.integer == 1)
        #expect(machine.takeNotes().last == "step 3: ConfirmationCallback answered; PollingWaitCallback sent back")
        // pages in between begin anew
        _ = machine.answered(200, page("{\"type\":\"TextOutputCallback\",\"output\":[]}"))
        #expect(machine.answered(200, page(Self.waiting + "," + Self.buttons)).wait == 2000)
    }

    @Test func withoutThatButtonItSaysSo() {
        let exit = Answer(callback: "PollingWaitCallback", response: .leave(label: "Exit", after: 0))
        var first = machine([exit])
        #expect(
            first.answered(200, page(Self.waiting)).failure?.reason
                == "the page that waits has no button to leave it by")
        let other = Answer(callback: "PollingWaitCallback", response: .leave(label: "Cancel", after: 0))
        var second = machine([other])
        #expect(second.answered(200, page(Self.waiting + "," + Self.buttons)).failure?.code == .unanswered)
    }

    // MARK: a link

    private static let suspended =
        "{\"callbacks\":[{\"type\":\"SuspendedTextOutputCallback\",\"output\":[{\"name\":\"message\",\"value\":\"We sent a mail\"},{\"name\":\"messageType\",\"value\":\"0\"}]}]}"

    private func asking() throws -> StepUp {
        var machine = machine { $0.person.isAsked = true }
        let open = try #require(machine.answered(200, Self.suspended).open)
        #expect(open.kind == .suspended(message: "We sent a mail"))
        return machine
    }

    @Test(arguments: [
        "https://am.example.test/am/XUI/?realm=/alpha&suspendedId=s%2F1&authIndexType=service",
        " https://am.example.test/am/XUI/?suspendedId=s%2F1\n",
        "https://am.example.test/am/XUI/?realm=alpha#login&suspendedId=s/1",
        "https://am.example.test/am/json/realms/root/realms/alpha/authenticate?suspendedId=s%2F1",
        "https://am.example.test/am/json/realms/root%2Frealms%2Fbeta?realm=alpha&suspendedId=s%2F1",
    ])
    func aLinkOfAMGoesOn(_ link: String) throws {
        var machine = try asking()
        let call = try #require(try machine.told(PersonAnswers(link: link)).call)
        #expect(
            call.head.url
                == "https://am.example.test/am/json/realms/root/realms/alpha/authenticate?suspendedId=s%2F1")
        #expect(call.body.isEmpty && call.action == .resumeAuthenticate && !call.carriesAnswers)
        #expect(call.head.fields["Cookie"] == "iPlanetDirectoryPro=SESSION-A")
        #expect(machine.answered(200, "{\"tokenId\":\"\"}").outcome != nil)
        #expect(!machine.takeNotes().joined().contains("s/1"))
    }

    /// A link may be another tree's: whose a new session is, AM says.
    @Test func whatALinkWinsIsTheUsersOwn() throws {
        for (owner, isOwn) in [
            ("id=bob,ou=user", true), ("ID=Bob,ou=user", true), ("id=alice,ou=user", false), ("", false),
        ] {
            var machine = machine(advice: StepUpTests.upgrade) { $0.person.isAsked = true }
            #expect(machine.answered(200, Self.suspended).open != nil)
            let link = PersonAnswers(link: "https://am.example.test/am/?suspendedId=s")
            #expect(try machine.told(link).call != nil)
            let first = try #require(machine.answered(200, "{\"tokenId\":\"SESSION-B\"}").call)
            #expect(first.action == .sessionInfo && first.head.fields["Cookie"] == "iPlanetDirectoryPro=SESSION-A")
            let second = try #require(machine.answered(200, "{\"universalId\":\"id=bob,ou=user\"}").call)
            #expect(second.action == .sessionInfo && second.head.fields["Cookie"] == "iPlanetDirectoryPro=SESSION-B")
            let end = machine.answered(200, "{\"universalId\":\"\(owner)\"}")
            #expect((end.outcome?.session == "SESSION-B") == isOwn && (end.failure == nil) == isOwn)
            #expect(end.failure?.doubtsAnswers != true)
        }
    }

    @Test(arguments: [
        (
            "https://evil.example.test/am/?suspendedId=s",
            "the link leads to https://evil.example.test/am/, which is neither https://am.example.test/am nor one of its login_pages"
        ),
        ("http://am.example.test/am/?suspendedId=s", "the link leads to http://am.example.test/am/"),
        ("https://am.example.test/other?suspendedId=s", "the link leads to https://am.example.test/other"),
        ("https://am.example.test/am/../x?suspendedId=s", "the link leads to"),
        ("https://am.example.test/am/XUI/?realm=/alpha", "the link has no suspendedId"),
        (
            "https://am.example.test/am/XUI/?realm=/beta&suspendedId=s",
            "the link is for realm /beta, and the tree runs in /alpha"
        ),
        (
            "https://am.example.test/am/json/realms/root/realms/beta/authenticate?suspendedId=s",
            "the link is for realm /beta, and the tree runs in /alpha"
        ),
        ("https://am.example.test/am/json/realms/root?suspendedId=s", "the link is for realm /, and"),
        ("s-1", "this is not a link"), ("", "this is not a link"),
        (
            "https://am.example.test/am/?suspendedId=" + String(repeating: "s", count: 20_000),
            "a link has 16 KiB at most"
        ),
    ])
    func anotherDoesNot(_ link: String, _ words: String) throws {
        var machine = try asking()
        do throws(OpenStep.Refusal) {
            _ = try machine.told(PersonAnswers(link: link))
            Issue.record("taken: \(link)")
        } catch {
            #expect(error.reason.hasPrefix(words), "\(error.reason)")
        }
        // the step stays open
        #expect(try machine.told(PersonAnswers(link: "https://am.example.test/am/?suspendedId=s")).call != nil)
    }

    @Test func aLinkThatIsTooOldIsNoWrongAnswer() throws {
        var machine = try asking()
        _ = try machine.told(PersonAnswers(link: "https://am.example.test/am/?suspendedId=s"))
        let failure = machine.answered(
            401,
            "{\"code\":401,\"message\":\"org.forgerock.openam.auth.nodes.framework.token.SuspendedAuthSessionException: gone\"}"
        ).failure
        #expect(failure?.code == .expired && failure?.doubtsAnswers == false)
    }

    // MARK: policies

    private func created(_ type: String, _ value: String, failed: String) -> String {
        page(
            "{\"type\":\"\(type)\",\"output\":[{\"name\":\"prompt\",\"value\":\"New\"},{\"name\":\"failedPolicies\",\"value\":[\(failed)]}],"
                + "\"input\":[{\"name\":\"IDToken1\",\"value\":\(value)},{\"name\":\"IDToken1validateOnly\",\"value\":false}]}"
        )
    }

    private static let tooShort =
        #""{\"policyRequirement\":\"LENGTH_BASED\",\"params\":{\"min-password-length\":8,\"value\":\"s3cret\"}}","{\"policyRequirement\":\"REQUIRED\"}""#

    @Test(arguments: [
        "ValidatedCreatePasswordCallback", "ValidatedCreateUsernameCallback", "StringAttributeInputCallback",
    ])
    func whatAMDoesNotTakeIsNamed(_ type: String) {
        var machine = machine([Answer(callback: type, response: .value("s3cret"))])
        #expect(machine.answered(200, created(type, "\"\"", failed: "")).call?.input(0)?.text == "s3cret")
        let failure = machine.answered(200, created(type, "\"\"", failed: Self.tooShort)).failure
        #expect(
            failure
                == .init(
                    .refused,
                    "AM refused the answer to \(type) \"New\", which violates its policies: LENGTH_BASED (min-password-length 8), REQUIRED"
                ))
    }

    @Test func choicesThatAMDoesNotTake() {
        let type = "BooleanAttributeInputCallback"
        var machine = machine([Answer(callback: type, response: .value("true"))])
        #expect(machine.answered(200, created(type, "false", failed: "")).call != nil)
        #expect(
            machine.answered(200, created(type, "true", failed: "\"odd\"")).failure?.reason.hasSuffix(": odd") == true)
    }

    @Test func policiesOfTheWholePage() {
        var machine = machine()
        let failure = machine.answered(
            403,
            #"{"code":403,"detail":{"failedPolicyRequirements":[{"policyRequirements":[{"policyRequirement":"UNIQUE"}],"property":"mail"}]}}"#
        ).failure
        #expect(
            failure?.reason == "AM refused an answer, which violates its policies (403): mail: UNIQUE")
    }

    // MARK: bounds

    @Test func largeStepsEndIt() {
        var first = machine()
        let many = Array(repeating: "{\"type\":\"TextOutputCallback\"}", count: 300).joined(separator: ",")
        #expect(first.answered(200, page(many)).failure?.code == .tooLarge)
        var second = machine()
        let authId = String(repeating: "a", count: 300 << 10)
        let order = second.answered(200, "{\"authId\":\"\(authId)\",\"callbacks\":[]}")
        #expect(order.failure == .init(.tooLarge, "AM's authId has more than 256 KiB"))
    }
}
