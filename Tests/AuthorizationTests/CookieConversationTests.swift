import Authorization
import HTTPCodec
import Interception
import Testing

/// Logins for a cookie, step by step.
@Suite struct CookieConversationTests {
    private func form(_ place: String = "/_session") -> CookieConversation {
        CookieConversation(
            CookieLogin(
                .form([.init(name: "na me", value: "a&b"), .init(name: "password", value: "p&a=s+s%é")]), place: place,
                cookie: "AuthSession"),
            origin: "http://db.test:5984")
    }

    private func identity() -> CookieConversation {
        CookieConversation(
            CookieLogin(
                .identity(url: "https://iam.test/token", key: "k+y"), place: "/_iam_session", cookie: "IAMSession"),
            origin: "https://db.test")
    }

    private func sent(_ order: CookieConversation.Command) -> (call: ServerCall, url: String)? {
        if case .send(let call, let url) = order { (call, url) } else { nil }
    }

    private func failure(_ order: CookieConversation.Command) -> LoginFault? {
        if case .failed(let fault) = order { fault } else { nil }
    }

    private func head(_ status: Int, _ cookie: String? = nil) -> ResponseHead {
        var head = ResponseHead(status: status, reason: "")
        if let cookie { head.fields.add("Set-Cookie", cookie) }
        return head
    }

    @Test(arguments: [
        ("/_session", "http://db.test:5984/_session"), ("/p/_session", "http://db.test:5984/p/_session"),
        ("https://login.test/in", "https://login.test/in"),
    ])
    func aForm(place: String, url: String) throws {
        var login = form(place)
        let (call, bound) = try #require(sent(login.begin()))
        #expect(bound == url && call.action == .sessionLogin && call.number == 1 && !call.carriesAnswers)
        #expect(call.head.method == .post && call.head.fields["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(String(decoding: call.body, as: UTF8.self) == "na%20me=a%26b&password=p%26a%3Ds%2Bs%25%C3%A9")
        guard case .won(let jar) = login.answered(head(200, "AuthSession=c; Max-Age=60"), body: [], now: 1000) else {
            Issue.record("it won nothing")
            return
        }
        #expect(jar["AuthSession"]?.value == "c" && jar["AuthSession"]?.expires == 1060)
    }

    @Test(
        arguments: [
            (401, nil, "{}", "refused the login with 401", true), (404, nil, "", "refused the login with 404", true),
            (429, nil, "", "responded with 429", false), (408, nil, "", "responded with 408", false),
            (500, nil, "", "responded with 500", false), (302, nil, "", "responded with 302", false),
            (200, nil, "{\"ok\":true}", "set no cookie AuthSession", false),
            (200, "AuthSession=c; Max-Age=0", "{\"ok\":true}", "set no cookie AuthSession", false),
            (200, "AuthSession=c", "{\"ok\":false}", "not ok", true),
        ] as [(Int, String?, String, String, Bool)])
    func whatComesToNothing(status: Int, cookie: String?, body: String, words: String, isRefusal: Bool) throws {
        var login = form()
        _ = login.begin()
        let fault = try #require(failure(login.answered(head(status, cookie), body: Array(body.utf8), now: 0)))
        #expect(fault.reason.contains(words) && fault.isRefusal == isRefusal, "\(fault)")
    }

    @Test func twoSteps() throws {
        var login = identity()
        let first = try #require(sent(login.begin()))
        #expect(first.url == "https://iam.test/token" && first.call.action == .identityToken)
        let form = String(decoding: first.call.body, as: UTF8.self)
        #expect(
            form.contains("apikey=k%2By")
                && form.contains("grant_type=urn%3Aibm%3Aparams%3Aoauth%3Agrant-type%3Aapikey"))
        let answer = Array(#"{"access_token":"t\"","token_type":"Bearer"}"#.utf8)
        let second = try #require(sent(login.answered(head(200), body: answer, now: 0)))
        #expect(second.url == "https://db.test/_iam_session" && second.call.number == 2)
        #expect(second.call.action == .sessionLogin)
        #expect(String(decoding: second.call.body, as: UTF8.self) == #"{"access_token":"t\""}"#)
        guard case .won(let jar) = login.answered(head(200, "IAMSession=i"), body: [], now: 0) else {
            Issue.record("it won nothing")
            return
        }
        #expect(jar["IAMSession"]?.value == "i")
    }

    @Test(arguments: [
        (400, "", "https://iam.test/token refused", true),
        (500, "", "https://iam.test/token responded with 500", false),
        (200, "no", "without an access_token", false), (200, "{}", "without an access_token", false),
        (200, #"{"access_token":""}"#, "without an access_token", false),
    ])
    func theFirstStepComesToNothing(status: Int, body: String, words: String, isRefusal: Bool) throws {
        var login = identity()
        _ = login.begin()
        let fault = try #require(failure(login.answered(head(status), body: Array(body.utf8), now: 0)))
        #expect(fault.reason.contains(words) && fault.isRefusal == isRefusal)
    }

    @Test func theSecondStepComesToNothing() throws {
        var login = identity()
        _ = login.begin()
        _ = login.answered(head(200), body: Array(#"{"access_token":"t"}"#.utf8), now: 0)
        let fault = try #require(failure(login.answered(head(500), body: [], now: 0)))
        #expect(fault.reason == "https://db.test/_iam_session responded with 500" && !fault.isRefusal)
    }

    @Test(
        arguments: [
            ("https://db.test/_session", nil, nil), ("https://db.test:443/_session", nil, nil),
            ("http://db.test/_session", nil, "which is not its origin"),
            ("https://db.test:444/_session", nil, "which is not its origin"),
            ("https://x.test/_session", nil, "which is not its origin"),
            ("https://db.test/_session/x", nil, "another path"), ("https://db.test/", nil, "another path"),
            ("https://db.test/_session", "x.test", "in Host"), ("https://db.test/_session", "db.test", nil),
        ] as [(String, String?, String?)])
    func whereALoginMayGo(url: String, host: String?, expected: String?) throws {
        var head = try RequestHead(method: "POST", url: url)
        if let host { head.fields.set("Host", host) }
        let refusal = CallBound.url("https://db.test/_session").refusal(of: head)
        if let expected {
            #expect(refusal?.contains(expected) == true, "\(refusal ?? "none")")
        } else {
            #expect(refusal == nil)
        }
    }
}
