import Authorization
import Formats
import HTTPCodec
import Testing

/// Each callback as AM sends it (Tests/Vectors/callbacks.json), and what goes back for it.
@Suite("Callbacks")
struct CallbackTests {
    typealias Response = AuthorizationPolicy.CallbackAnswer.Response

    private static let all: [JSONValue] = (try? vectors("callbacks.json").items) ?? []

    private static func named(_ type: String) throws -> JSONValue {
        try #require(all.first { $0["type"]?.text == type }, "\(type)")
    }

    /// What becomes of a page with these callbacks.
    private func order(
        _ callbacks: [JSONValue], _ answers: [AuthorizationPolicy.CallbackAnswer] = [], asks: Bool = false
    ) -> StepUp.Command {
        var policy = policy()
        policy.answers = answers
        policy.person.isAsked = asks
        var machine = StepUp(policy: policy, advice: StepUpTests.transaction, session: "SESSION-A")
        _ = machine.begin()
        let page: JSONValue = ["authId": "a", "callbacks": .array(callbacks)]
        return machine.answered(200, page.serialized)
    }

    /// The values of the inputs of the first callback that goes back.
    private func inputs(_ order: StepUp.Command) -> String? {
        order.call?.json?["callbacks"]?[0]?["input"]?.items.map { inputs in
            JSONValue.array(inputs.map { $0["value"] ?? .null }).serialized
        }
    }

    private static let profile = DeviceProfile(
        identifier: "proxy-1", metadata: ["platform": "linux"],
        location: ["latitude": 1, "longitude": 2])

    static let answered: [(String, Response, String)] = [
        ("NameCallback", .value("robot"), #"["robot"]"#),
        ("PasswordCallback", .value("s3cret"), #"["s3cret"]"#),
        ("TextInputCallback", .value("x"), #"["x"]"#), ("TextInputCallback", .preset, #"["box-1"]"#),
        ("ChoiceCallback", .choose("Yes"), "[1]"), ("ChoiceCallback", .preset, "[0]"),
        ("ConfirmationCallback", .choose("go*"), "[0]"), ("ConfirmationCallback", .preset, "[1]"),
        ("HiddenValueCallback", .value("d-1"), #"["d-1"]"#), ("HiddenValueCallback", .preset, #"["deviceHint"]"#),
        (
            "DeviceProfileCallback", .device(profile),
            #"["{\"identifier\":\"proxy-1\",\"metadata\":{\"platform\":\"linux\"}}"]"#
        ),
        ("DeviceProfileCallback", .value("{}"), #"["{}"]"#),
        ("StringAttributeInputCallback", .value("a@example.test"), #"["a@example.test",false]"#),
        ("NumberAttributeInputCallback", .value("4.50"), "[4.50,false]"),
        ("BooleanAttributeInputCallback", .value("yes"), "[true,false]"),
        ("BooleanAttributeInputCallback", .preset, "[false,false]"),
        ("BooleanAttributeInputCallback", .inputs([.init("validateOnly", "true")]), "[false,true]"),
        ("ValidatedCreateUsernameCallback", .value("robot"), #"["robot",false]"#),
        ("ValidatedCreatePasswordCallback", .value("s3cret"), #"["s3cret",false]"#),
        ("KbaCreateCallback", .security(question: nil, answer: "Rex"), #"["First school?","Rex"]"#),
        ("KbaCreateCallback", .security(question: "*pet*", answer: "Rex"), #"["First pet?","Rex"]"#),
        ("KbaCreateCallback", .security(question: "Whose?", answer: "Rex"), #"["Whose?","Rex"]"#),
        ("TermsAndConditionsCallback", .value("true"), "[true]"),
        ("ConsentMappingCallback", .choose("yes"), "[true]"),
        ("SelectIdPCallback", .choose("ACME"), #"["acme"]"#),
        ("SelectIdPCallback", .value("local*"), #"["localAuthentication"]"#),
        ("IdPCallback", .inputs([.init("token", "t"), .init("token_type", "id_token")]), #"["t","id_token"]"#),
        ("IdPCallback", .value("t"), #"["t",""]"#), ("ReCaptchaCallback", .value("test"), #"["test"]"#),
        ("ReCaptchaEnterpriseCallback", .inputs([.init("clientError", "none")]), #"["","","none",""]"#),
        ("DeviceBindingCallback", .inputs([.init("clientError", "Unsupported")]), #"["","","","Unsupported"]"#),
        ("DeviceSigningVerifierCallback", .inputs([.init("clientError", "Unsupported")]), #"["","Unsupported"]"#),
        ("AppIntegrityCallback", .value("t"), #"["t",""]"#),
        ("PingOneProtectInitializeCallback", .inputs([.init("clientError", "none")]), #"["none"]"#),
        ("PingOneProtectEvaluationCallback", .value("R/o"), #"["R/o",""]"#),
        ("LanguageCallback", .value("de-AT"), #"["de","AT"]"#), ("LanguageCallback", .value("de"), #"["de",""]"#),
    ]

    @Test(arguments: answered) func isAnswered(_ type: String, _ response: Response, _ expected: String) throws {
        let callback = try Self.named(type)
        let order = order([callback], [.init(callback: type, response: response)])
        #expect(inputs(order) == expected, "\(String(describing: order.failure))")
        #expect(order.call?.carriesAnswers == true)
        // everything else is as it came
        var bare = try #require(order.call?.json?["callbacks"]?[0])
        bare["input"] = callback["input"]
        #expect(bare == callback)
    }

    @Test(arguments: [
        "TextOutputCallback", "MetadataCallback", "HiddenValueCallback", "PingOneProtectInitializeCallback",
        "LanguageCallback", "NameValueOutputCallback", "X509CertificateCallback",
    ])
    func goesBackAsItCame(_ type: String) throws {
        let callback = try Self.named(type)
        let call = try #require(order([callback]).call)
        #expect(call.json?["callbacks"]?[0] == callback)
        #expect(!call.carriesAnswers)
    }

    /// What ends it says what would help.
    @Test(arguments: [
        (
            "RedirectCallback",
            "sends the user's browser to idp.example.test, where Usher does not go; choose another way in SelectIdPCallback, or answer it with redirect: { code: TEXT }"
        ),
        (
            "IdPCallback",
            "asks for a token of an identity provider of acme; answer it with inputs: { token: TEXT, token_type: TEXT }"
        ),
        ("ReCaptchaCallback", "with the captcha's keys for tests any value is taken: answer it with value: TEXT"),
        ("ReCaptchaEnterpriseCallback", "answer it with inputs: { token: TEXT }, or { clientError: TEXT }"),
        (
            "DeviceBindingCallback",
            "asks for what a device proves; where the tree has a branch for that, answer it with inputs: { clientError: Unsupported }"
        ),
        ("DeviceSigningVerifierCallback", "inputs: { clientError: Unsupported }"),
        ("AppIntegrityCallback", "inputs: { clientError: Unsupported }"),
        ("PingOneProtectEvaluationCallback", "answer it with inputs: { signals: TEXT }, or { clientError: TEXT }"),
        (
            "DeviceProfileCallback",
            "no answer is configured for DeviceProfileCallback; it takes device: { identifier: TEXT }"
        ),
        ("KbaCreateCallback", "it takes question: TEXT and answer: TEXT"),
        ("SelectIdPCallback", "it offers acme, localAuthentication"),
        ("ConsentMappingCallback", "no answer is configured for ConsentMappingCallback \"Share?\""),
        (
            "SuspendedTextOutputCallback",
            "goes on by a link that was sent to the user; with otherwise: ask among the answers, `usher answer` takes that link"
        ),
    ])
    func isRefusedInWords(_ type: String, _ words: String) throws {
        let failure = try #require(order([try Self.named(type)]).failure)
        #expect(failure.reason.contains(words), "\(failure.reason)")
        #expect(!failure.doubtsAnswers)
    }

    @Test func everyOneIsDealtWith() {
        let met = Set(Self.answered.map(\.0))
        for callback in Self.all {
            let type = callback["type"]?.text ?? ""
            #expect(CallbackKind.known[type] != nil, "\(type)")
            if CallbackKind.known[type]?.takesAnswer == true,
                !["RedirectCallback", "PollingWaitCallback"].contains(type)
            {
                #expect(met.contains(type), "\(type)")
            }
        }
        #expect(Self.all.count == 34)
    }

    // MARK: what needs more words

    @Test func aProfileHasWhatIsAskedFor() throws {
        var callback = try Self.named("DeviceProfileCallback")
        func told(_ metadata: Bool, _ location: Bool) -> String? {
            callback["output"] = .array([
                ["name": "metadata", "value": .bool(metadata)],
                ["name": "location", "value": .bool(location)],
            ])
            let answers = [
                AuthorizationPolicy.CallbackAnswer(callback: "DeviceProfileCallback", response: .device(Self.profile))
            ]
            return order([callback], answers).call?.input(0)?.text
        }
        #expect(told(false, false) == #"{"identifier":"proxy-1"}"#)
        #expect(told(false, true) == #"{"identifier":"proxy-1","location":{"latitude":1,"longitude":2}}"#)
    }

    /// AM wants as many different questions as it asks for.
    @Test func questionsAreTakenOnce() throws {
        let callback = try Self.named("KbaCreateCallback")
        let answers = [
            AuthorizationPolicy.CallbackAnswer(
                callback: "KbaCreateCallback", response: .security(question: nil, answer: "Rex"))
        ]
        let call = try #require(order([callback, callback], answers).call)
        let questions = call.json?["callbacks"]?.items?.map { $0["input"]?[0]?["value"]?.text }
        #expect(questions == ["First school?", "First pet?"])
        #expect(order([callback, callback, callback], answers).failure?.reason.contains("offers no question") == true)
        let pets = [
            AuthorizationPolicy.CallbackAnswer(
                callback: "KbaCreateCallback", response: .security(question: "*cat*", answer: "x"))
        ]
        #expect(order([callback], pets).failure?.code == .unanswered)
    }

    @Test func aBrowserComesBackWithParameters() throws {
        var callback = try Self.named("RedirectCallback")
        callback["output"] = .array([
            ["name": "redirectUrl", "value": "https://idp.example.test/auth?x=1&state=a%20b#top"]
        ])
        func told(_ parameters: [NamedText]) -> ServerCall? {
            order([callback], [.init(callback: "RedirectCallback", response: .redirect(parameters))]).call
        }
        let call = try #require(told([.init("code", "c&d")]))
        #expect(call.head.query == "code=c%26d&state=a%20b")
        #expect(call.json?["callbacks"]?[0] == callback && call.carriesAnswers)
        #expect(told([.init("state", "mine"), .init("error", "no")])?.head.query == "state=mine&error=no")
    }

    @Test func providersAreThoseThatAreOffered() throws {
        let failure = order(
            [try Self.named("SelectIdPCallback")], [.init(callback: "SelectIdPCallback", response: .choose("other"))]
        ).failure
        #expect(
            failure?.reason
                == "SelectIdPCallback offers no provider that fits the configured answer; it offers acme, localAuthentication"
        )
    }

    @Test func whatHasNoDefaultHasNone() throws {
        var callback = try Self.named("NumberAttributeInputCallback")
        callback["output"] = .array([])
        let answers = [AuthorizationPolicy.CallbackAnswer(callback: "NumberAttributeInputCallback", response: .preset)]
        #expect(order([callback], answers).failure?.reason == "AM sets no default for NumberAttributeInputCallback")
    }

    @Test func aPersonIsAskedForWhatPersonsKnow() throws {
        func open(_ type: String) throws -> OpenCallback? {
            order([try Self.named(type)], asks: true).open?.callbacks.first
        }
        #expect(try open("KbaCreateCallback")?.parts == ["question", "answer"])
        #expect(try open("SelectIdPCallback")?.choices.map(\.label) == ["Acme", "localAuthentication"])
        for type in [
            "IdPCallback", "ReCaptchaCallback", "DeviceBindingCallback", "RedirectCallback", "DeviceProfileCallback",
        ] {
            #expect(try open(type) == nil)
        }
    }
}
