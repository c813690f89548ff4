import Journal
import Testing

/// What a login won, what that was used for, and which login goes on with another's session.
struct JourneyLineageTests {
    private static func form(_ recording: inout LoginRecording, _ action: String, _ form: String, _ answer: String) {
        recording.add(action, form, answer) {
            $0.target = "/am/oauth2/alpha/access_token"
            $0.request = "Host: am.test\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        }
    }

    private static func authorize(_ recording: inout LoginRecording, _ session: Int, code: Int) {
        recording.add("AUTHORIZE", "", "", status: 302) {
            ($0.method, $0.target) = ("GET", "/am/oauth2/alpha/authorize?client_id=app&state=code#90")
            $0.request += LoginRecording.cookie(session)
            $0.response += "Location: https://app.test/cb?code=code#\(code)&state=code#90\r\n"
        }
    }

    @Test("A journey has its codes, tokens, refreshes, requests and end")
    func tokens() throws {
        var recording = LoginRecording()
        recording.login(1, 1)
        Self.authorize(&recording, 1, code: 1)
        Self.form(
            &recording, "EXCHANGE_TOKEN", "grant_type=authorization_code&code=code#1&code_verifier=code#2",
            #"{"access_token":"token#1","refresh_token":"token#2","id_token":"token#3","expires_in":60}"#)
        recording.get("/api/a?x=1", "Authorization: Bearer token#1\r\n")
        recording.get("/api/b", "Authorization: Bearer token#1\r\n", status: 401)
        Self.form(
            &recording, "REFRESH_TOKEN", "grant_type=refresh_token&refresh_token=token#2",
            #"{"access_token":"token#4","refresh_token":"token#5"}"#)
        recording.get("/api/b", "Authorization: Bearer token#4\r\n")
        recording.get("/x", "Authorization: Bearer token#4\r\n", host: "other.test")
        recording.get("/x", "Authorization: Bearer token#99\r\n", host: "stranger.test")
        recording.add("REVOKE_TOKEN", "token=token#5", "{}")
        let end = recording.add("LOGOUT", "", #"{"result":"ok"}"#) { $0.request += LoginRecording.cookie(1) }
        let journeys = recording.book.journeys
        let journey = try #require(journeys.first)
        #expect(journeys.count == 1)
        #expect(
            journey.tokens.map { "\($0.kind.rawValue) \($0.alias.text)" } == [
                "session session#1", "code code#1", "access_token token#1", "refresh_token token#2",
                "id_token token#3", "access_token token#4", "refresh_token token#5",
            ])
        #expect(
            journey.calls.map { $0.flow.text(.action) } == [
                "AUTHORIZE", "EXCHANGE_TOKEN", "REFRESH_TOKEN", "REVOKE_TOKEN", "LOGOUT",
            ])
        #expect(
            journey.calls.map { $0.given?.text } == ["session#1", "code#1", "token#2", "token#5", "session#1"])
        #expect(journey.resources.map(\.origin) == ["https://shop.test", "https://other.test"])
        let shop = try #require(journey.resources.first)
        #expect(shop.requests == 3 && shop.pathCount == 2 && shop.statuses.map(\.status) == [200, 401])
        #expect(shop.statuses.map(\.count) == [2, 1])
        #expect(journey.end?.id == UInt64(end))
        #expect(journey.duration == 520)
    }

    @Test("A journey without a known login begins with its code")
    func withoutLogin() throws {
        var recording = LoginRecording()
        // asked for without a session: AM shows its page, and nothing begins
        recording.add("AUTHORIZE", "", "<html>")
        Self.form(&recording, "REFRESH_TOKEN", "refresh_token=token#8", #"{"access_token":"token#9"}"#)
        #expect(recording.book.journeys.isEmpty)
        Self.form(&recording, "EXCHANGE_TOKEN", "code=code#1", #"{"access_token":"token#1"}"#)
        recording.get("/", "Authorization: Bearer token#1\r\n")
        let journey = try #require(recording.book.journeys.first)
        #expect(journey.lacksBeginning && journey.steps.isEmpty && journey.calls.count == 1)
        #expect(journey.outcome(at: recording.time) == .succeeded && journey.resources.count == 1)
    }

    @Test("An upgrade is a separate journey, and names the session that it upgraded")
    func upgrade() throws {
        var recording = LoginRecording()
        let first = recording.login(1, 1)
        recording.get("/a", LoginRecording.cookie(1))
        let second = recording.login(2, 2, cookie: 1)
        recording.get("/b", LoginRecording.cookie(2))
        let book = recording.book
        #expect(book.journeys.count == 2)
        let (login, upgrade) = (book.journeys[0], book.journeys[1])
        #expect(login.session?.text == "session#1" && login.successors == [FlowID(UInt64(second))])
        #expect(upgrade.session?.text == "session#2" && upgrade.origin?.session.text == "session#1")
        #expect(upgrade.origin?.journey == FlowID(UInt64(first)))
        #expect(book.journeys.map { $0.resources.first?.requests } == [1, 1])
    }

    @Test("If AM returns the same session, its requests belong to the journey that obtained it")
    func sameSession() throws {
        var recording = LoginRecording()
        recording.login(1, 1)
        let second = recording.login(2, 1, cookie: 1)
        recording.get("/b", LoginRecording.cookie(1))
        let book = recording.book
        #expect(book.journeys.map(\.resources.count) == [1, 0])
        #expect(book.journeys[0].successors == [FlowID(UInt64(second))])
        #expect(
            book.journeys[1].session?.text == "session#1" && book.journeys[1].origin?.journey?.description == "1001")
        // the login before it is gone, so that nobody knows who won it
        recording = LoginRecording()
        recording.login(2, 1, cookie: 1)
        recording.get("/b", LoginRecording.cookie(1))
        let journey = try #require(recording.book.journeys.first)
        #expect(journey.origin?.session.text == "session#1" && journey.origin?.journey == nil)
        #expect(journey.resources.count == 1)
    }

    @Test("A step-up by Usher names the request that it served")
    func stepUp() throws {
        var recording = LoginRecording()
        recording.login(1, 1)
        let own: (inout FlowSamples.Sample) -> Void = {
            $0.parent = 0x1005
            $0.type = "composite_advice"
            $0.request += LoginRecording.cookie(1)
        }
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(7), own)
        recording.add("AUTHENTICATE", LoginRecording.answer(7), LoginRecording.success(1), own)
        recording.get("/pay", LoginRecording.cookie(1))
        let book = recording.book
        #expect(book.journeys.count == 2)
        let journey = book.journeys[1]
        #expect(journey.parent?.description == "1005" && journey.outcome(at: recording.time) == .succeeded)
        #expect(book.parent(of: journey)?.text(.target) == "/pay" && book.parent(of: book.journeys[0]) == nil)
        #expect(book.journeys[0].resources.map(\.requests) == [1] && journey.resources.isEmpty)
    }

    @Test("Edited messages count in the form that AM sent or received")
    func changed() throws {
        var recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", "{}") {
            $0.answerStatus = 200
            $0.answer = "Content-Type: application/json\r\n"
            $0.answerBody = Array(LoginRecording.step(1).utf8)
        }
        recording.add("AUTHENTICATE", LoginRecording.answer(1), LoginRecording.success(1))
        recording.get("/", "X: 1\r\n")
        recording.add("", "", "") {
            ($0.method, $0.host, $0.sentMethod) = ("GET", "shop.test", "GET")
            $0.sent = "Host: shop.test\r\nCookie: iPlanetDirectoryPro=session#1\r\n"
        }
        let journeys = recording.book.journeys
        #expect(journeys.count == 1 && journeys.first?.stepCount == 2 && journeys.first?.resources.first?.requests == 1)
    }

    @Test("All lists of a journey are bounded")
    func bounds() throws {
        var recording = LoginRecording()
        recording.add("START_AUTHENTICATE", "", LoginRecording.step(1))
        for step in 1...150 {
            recording.add("AUTHENTICATE", LoginRecording.answer(step), LoginRecording.step(step + 1))
        }
        recording.add("AUTHENTICATE", LoginRecording.answer(151), LoginRecording.success(1))
        for code in 1...150 { Self.authorize(&recording, 1, code: code) }
        for host in 1...50 { recording.get("/", LoginRecording.cookie(1), host: "h\(host).test") }
        for path in 1...1_100 { recording.get("/\(path)", LoginRecording.cookie(1), host: "h1.test") }
        for status in 300...340 { recording.get("/", LoginRecording.cookie(1), status: status, host: "h2.test") }
        let journey = try #require(recording.book.journeys.first)
        #expect(journey.steps.count == 100 && journey.stepCount == 152 && journey.outcome(at: 0) == .succeeded)
        #expect(journey.calls.count == 100 && journey.more.calls == 50)
        #expect(journey.tokens.count == 100 && journey.more.tokens == 51)
        #expect(journey.resources.count == 32 && journey.more.requests == 18)
        #expect(journey.resources[0].pathCount == JourneyResource.mostPaths && journey.resources[0].requests == 1_101)
        #expect(journey.resources[1].statuses.count == 16)
        var callbacks = LoginRecording()
        let many = [String](repeating: #"{"type":"NameCallback"}"#, count: 100).joined(separator: ",")
        callbacks.add("START_AUTHENTICATE", "", LoginRecording.step(1, many))
        #expect(callbacks.book.journeys.first?.callbacks(of: 0).count == 64)
        for session in 2...30 { recording.login(1_000 + session, session, cookie: 1) }
        #expect(recording.book.journeys.first?.successors.count == 16)
    }
}
