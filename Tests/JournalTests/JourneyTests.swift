import Journal
import Testing

/// Which calls belong to one login, and how it went.
struct JourneyTests {
    private static func only(_ recording: LoginRecording) throws -> Journey {
        let journeys = recording.book.journeys
        #expect(journeys.count == 1)
        return try #require(journeys.first)
    }

    private static func ids(_ flows: [PackedFlow]) -> [UInt64] { flows.map(\.id) }

    @Test("A login has its steps, its callbacks and answers, and the times of AM and the client")
    func simple() throws {
        var recording = LoginRecording()
        recording.add(
            "START_AUTHENTICATE", "",
            LoginRecording.step(
                1,
                #"{"type":"NameCallback","output":[{"name":"prompt","value":"User Name"}],"input":[{"name":"IDToken1","value":""}]},{"type":"PasswordCallback","output":[{"name":"prompt","value":"Password"}],"input":[{"name":"IDToken2","value":""}]},{"type":"ChoiceCallback","output":[{"name":"prompt","value":"How"},{"name":"choices","value":["Mail","Phone"]}],"input":[{"name":"IDToken3","value":0}]},{"type":"TextOutputCallback","output":[{"name":"message","value":"Hello"}]}"#
            )
        ) { $0.marks = [.sent: 3] }
        recording.wait(1_000)
        recording.add(
            "AUTHENTICATE",
            LoginRecording.step(
                1,
                #"{"type":"NameCallback","input":[{"name":"IDToken1","value":"demo"}]},{"type":"PasswordCallback","input":[{"name":"IDToken2","value":"password#1"}]},{"type":"ChoiceCallback","input":[{"name":"IDToken3","value":1}]},{"type":"TextOutputCallback"}"#
            ), LoginRecording.success(4))
        let journey = try Self.only(recording)
        #expect(journey.id.description == "1001" && !journey.lacksBeginning && journey.parent == nil)
        #expect(journey.outcome(at: recording.time) == .succeeded && journey.session?.text == "session#4")
        #expect(journey.duration == 1_020 && journey.pauses == 1_000 && journey.atServer == 17)
        #expect(journey.login == "demo" && journey.reason == nil)
        #expect(journey.steps[0].stage == "One" && journey.steps[0].header == "Sign in")
        #expect(
            journey.callbacks(of: 0).map { "\($0.type), \($0.prompt): \($0.answer ?? "-")" } == [
                "NameCallback, User Name: demo", "PasswordCallback, Password: password#1",
                "ChoiceCallback, How: Phone", "TextOutputCallback, Hello: -",
            ])
        #expect(journey.callbacks(of: 1).isEmpty && journey.callbacks(of: 2).isEmpty)
    }

    @Test("A step-up fails without AM's approval of the transaction, whatever the last response says")
    func unapproved() throws {
        for flags in [FlowFlags.notApproved, []] {
            var recording = LoginRecording()
            recording.add("START_AUTHENTICATE", "", LoginRecording.step(1)) { $0.parent = 77 }
            recording.add("AUTHENTICATE", LoginRecording.answer(1), LoginRecording.success(4)) { $0.parent = 77 }
            recording.add("", "", "") {
                $0.id = 77
                $0.flags = flags
            }
            let journey = try Self.only(recording)
            #expect(journey.outcome(at: recording.time) == (flags.isEmpty ? .succeeded : .failed))
            #expect(journey.reason == (flags.isEmpty ? nil : "AM did not approve the transaction"))
        }
    }

    /// The advice that asks for another transaction: of a Gateway, as a redirect, in a body.
    private static let advices: [@Sendable (inout FlowSamples.Sample) -> Void] = [
        {
            $0.status = 401
            $0.response += "WWW-Authenticate: SSOADVICE realm=\"/\",am_uri=\"https://am.test/am/\",advices=\"e30=\"\r\n"
        },
        {
            $0.status = 307
            $0.response += "Location: https://am.test/am/?authIndexType=composite_advice&authIndexValue=x\r\n"
        },
        {
            $0.status = 403
            $0.responseBody = Array(#"{"advices":{"TransactionConditionAdvice":["transaction#2"]}}"#.utf8)
        },
        {
            ($0.status, $0.answerStatus) = (200, 401)
            $0.answer = "WWW-Authenticate: SSOADVICE realm=\"/\"\r\n"
        },
    ]

    private static func transaction(_ change: (inout LoginRecording) -> Void) throws -> JourneyOutcome {
        var recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(1)) {
            $0.target +=
                "&authIndexType=composite_advice&authIndexValue=%3CAdvices%3E%3CValue%3Etransaction#1%3C%2FValue%3E"
        }
        recording.add("AUTHENTICATE", LoginRecording.answer(1), LoginRecording.success(4))
        change(&recording)
        return try only(recording).outcome(at: recording.time)
    }

    private static func shows(
        _ recording: inout LoginRecording, _ transaction: Int = 1,
        _ change: (inout FlowSamples.Sample) -> Void = { _ in }
    ) {
        recording.add("", "", "") {
            ($0.host, $0.target, $0.realm, $0.tree) = ("shop.test", "/pay?_txid=transaction#\(transaction)", "", "")
            change(&$0)
        }
    }

    @Test("An app's login for a transaction fails if the resource asks for another transaction", arguments: 0..<4)
    func asked(again index: Int) throws {
        let advice = Self.advices[index]
        #expect(try Self.transaction { Self.shows(&$0, 1, advice) } == .failed)
        // in a field, and in a question about a policy
        let moved = try Self.transaction {
            Self.shows(&$0) { sample in
                sample.target = "/pay"
                sample.request += "X-TxID: transaction#1\r\n"
                advice(&sample)
            }
        }
        let told = try Self.transaction {
            Self.shows(&$0) { sample in
                sample.target = "/am/json/policies?_action=evaluate"
                sample.requestBody = Array(#"{"environment":{"TxId":["transaction#1"]}}"#.utf8)
                advice(&sample)
            }
        }
        #expect(moved == .failed && told == .failed)
    }

    @Test("No other response of the resource makes a transaction fail")
    func approved() throws {
        let advice = Self.advices[0]
        #expect(try Self.transaction { _ in } == .succeeded)
        #expect(try Self.transaction { Self.shows(&$0) } == .succeeded)
        // each is good once
        let again = try Self.transaction {
            Self.shows(&$0)
            Self.shows(&$0, 1, advice)
        }
        let another = try Self.transaction { Self.shows(&$0, 2, advice) }
        #expect(again == .succeeded && another == .succeeded)
        // too early, by Usher's own step-up, and for a reason of the resource's own
        let early = try Self.transaction {
            Self.shows(&$0, 1) { sample in
                advice(&sample)
                sample.began -= 15
            }
        }
        let steppedUp = try Self.transaction {
            Self.shows(&$0, 1) { sample in
                advice(&sample)
                sample.flags = .steppedUp
            }
        }
        let forbidden = try Self.transaction { Self.shows(&$0) { sample in sample.status = 403 } }
        #expect(early == .succeeded && steppedUp == .succeeded && forbidden == .succeeded)
        // which says nothing of what comes of it next
        let later = try Self.transaction {
            Self.shows(&$0) { sample in sample.status = 503 }
            Self.shows(&$0, 1, advice)
        }
        #expect(later == .failed)
    }

    @Test("A refusal has AM's reason")
    func refused() throws {
        var recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(1))
        recording.add("AUTHENTICATE", LoginRecording.answer(1), LoginRecording.refusal, status: 401)
        var journey = try Self.only(recording)
        #expect(journey.outcome(at: recording.time) == .failed && journey.reason == "Login failure (401, 107)")
        #expect(journey.tokens.isEmpty && journey.session == nil)

        for (status, body, reason) in [
            (502, "<html>", "502, and no JSON"), (500, #"{"code":500}"#, "500"), (200, "", "200, and no JSON"),
            (401, #"{"errorMessage":"Locked","errorCode":14}"#, "Locked (401, 14)"),
        ] {
            var recording = LoginRecording()
            recording.add("START_AUTHENTICATE", "", body, status: status)
            journey = try Self.only(recording)
            #expect(journey.outcome(at: recording.time) == .failed && journey.reason == reason)
        }
        recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", "", status: 0) { $0.error = "connection_timeout" }
        journey = try Self.only(recording)
        #expect(journey.outcome(at: recording.time) == .failed && journey.reason == "connection_timeout")
    }

    @Test("Concurrent logins are separate journeys")
    func parallel() throws {
        var recording = LoginRecording()
        for login in 1...3 { recording.add("START_AUTHENTICATE", "", LoginRecording.step(login)) }
        for login in [3, 1, 2] {
            recording.add("AUTHENTICATE", LoginRecording.answer(login, "user\(login)"), LoginRecording.step(login + 10))
        }
        for login in [2, 3, 1] {
            recording.add("AUTHENTICATE", LoginRecording.answer(login + 10), LoginRecording.success(login))
        }
        for login in [1, 2, 2] { recording.get("/\(login)", LoginRecording.cookie(login)) }
        let journeys = recording.book.journeys
        #expect(journeys.map(\.login) == ["user1", "user2", "user3"])
        #expect(journeys.map { $0.session?.text } == ["session#1", "session#2", "session#3"])
        #expect(journeys.map { Self.ids($0.steps.map(\.flow)) }[0] == [0x1001, 0x1005, 0x1009])
        #expect(journeys.map { $0.resources.first?.requests } == [1, 2, nil])
        #expect(journeys.allSatisfy { $0.origin == nil && $0.successors.isEmpty && $0.duration > 0 })
    }

    @Test("A journey is in the order of the beginnings of its flows, whatever their ends")
    func order() throws {
        var recording = LoginRecording()
        recording.wait(100)
        recording.add("AUTHENTICATE", LoginRecording.answer(1), LoginRecording.success(1))
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(1)) { $0.began -= 100 }
        let journey = try Self.only(recording)
        #expect(Self.ids(journey.steps.map(\.flow)) == [0x1002, 0x1001] && !journey.lacksBeginning)
    }

    @Test("A repeated step is marked, and a success stays a success")
    func repeated() throws {
        var recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(1))
        recording.add("AUTHENTICATE", LoginRecording.answer(1), "", status: 0) { $0.error = "connection_terminated" }
        recording.add("AUTHENTICATE", LoginRecording.answer(1), LoginRecording.success(1))
        recording.add("AUTHENTICATE", LoginRecording.answer(1), LoginRecording.refusal, status: 401)
        var journey = try Self.only(recording)
        #expect(journey.steps.map(\.isRepeated) == [false, false, true, true])
        #expect(journey.outcome(at: recording.time) == .succeeded && journey.reason == nil)

        // AM that gives the same authId again and again has it sent so
        recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(1))
        recording.add("AUTHENTICATE", LoginRecording.answer(1), LoginRecording.step(1))
        recording.add("AUTHENTICATE", LoginRecording.answer(1), LoginRecording.success(1))
        journey = try Self.only(recording)
        #expect(journey.steps.map(\.isRepeated) == [false, false, false])
    }

    @Test("An attempt that was repeated is no journey of its own")
    func attempts() throws {
        var recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", "", status: 503) {
            ($0.parent, $0.flags) = (0x1002, .attempt)
        }
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(1))
        let journey = try Self.only(recording)
        #expect(journey.parent == nil && journey.stepCount == 1)
    }

    @Test("A login without a next call is abandoned after a while")
    func abandoned() throws {
        var recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(1))
        let journey = try Self.only(recording)
        #expect(journey.outcome(at: recording.time + Journey.patience) == .running)
        #expect(journey.outcome(at: recording.time + Journey.patience + 1) == .abandoned)
    }

    @Test("A journey whose first flows were dropped lacks its beginning")
    func dropped() throws {
        var recording = LoginRecording()
        recording.login(1, 1)
        let size = recording.ring.bytes
        recording = LoginRecording(budget: size - 1)
        recording.login(1, 1)
        let book = recording.book
        let journey = try #require(book.journeys.first)
        #expect(book.journeys.count == 1 && book.hasLost && journey.lacksBeginning)
        #expect(journey.id.description == "1002" && journey.outcome(at: recording.time) == .succeeded)
        #expect(journey.login == nil)
    }

    @Test("A mailed link continues a login, if only one can be meant")
    func suspended() throws {
        let mailed = #"{"callbacks":[{"type":"SuspendedTextOutputCallback","output":[]}]}"#
        let link: (inout FlowSamples.Sample) -> Void = {
            $0.target = "/am/json/authenticate?realm=/alpha&suspendedId=code#1"
        }
        var recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(1))
        recording.add("AUTHENTICATE", LoginRecording.answer(1), mailed)
        #expect(try Self.only(recording).outcome(at: recording.time + 2 * Journey.patience) == .suspended)
        recording.wait(60_000)
        var two = recording
        recording.add("RESUME_AUTHENTICATE", "", LoginRecording.success(1), link)
        let journey = try Self.only(recording)
        #expect(journey.outcome(at: recording.time) == .succeeded && journey.pauses == 60_000)

        // of two that wait nobody knows which is meant
        two.add("START_AUTHENTICATE", "", mailed)
        two.add("RESUME_AUTHENTICATE", "", LoginRecording.success(1), link)
        #expect(two.book.journeys.count == 3 && two.book.journeys[2].lacksBeginning)
        // an answer that told the link says it
        var told = LoginRecording()
        told.add("START_AUTHENTICATE", "", mailed)
        told.add("START_AUTHENTICATE", "", mailed.replacing("[]", with: #"[{"value":"?suspendedId=code#1"}]"#))
        told.add("RESUME_AUTHENTICATE", "", LoginRecording.success(1), link)
        #expect(told.book.journeys.map(\.stepCount) == [1, 2])
    }

    @Test("Without the body of AM's response, the outcome is unknown")
    func unknown() throws {
        var recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", "") { $0.flags = [.responseBodyCut] }
        #expect(try Self.only(recording).outcome(at: recording.time) == .unknown)
    }

    @Test("A success may have no session, or a session in a cookie only")
    func sessions() throws {
        var recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", #" {"successUrl":"/"}"#)
        var journey = try Self.only(recording)
        #expect(journey.outcome(at: recording.time) == .succeeded && journey.tokens.isEmpty)

        recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", #"{"tokenId":""}"#) {
            $0.response += "Set-Cookie: JSESSIONID=session#1\r\nSet-Cookie: iPlanetDirectoryPro=session#2; Path=/\r\n"
        }
        journey = try Self.only(recording)
        #expect(journey.session?.text == "session#2" && journey.tokens.count == 1)
    }
}
