import Formats
import HTTPCodec
import Testing

@testable import Interception

/// The bytes of each named fault, for a typical exchange.
@Suite("Named faults")
struct NamedFaultTests {
    /// What comes of an exchange.
    private struct Made {
        var request: RequestHead
        var requestOutcome: Outcome
        var response: ResponseHead
        var body: String
        var outcome: Outcome

        /// The response in the origin's place.
        var answer: DirectResponse? { if case .respond(let answer, _) = requestOutcome.verdict { answer } else { nil } }
        var answerBody: String { String(decoding: answer?.body ?? [], as: UTF8.self) }
    }

    private static let am = "https://am.test/am"
    private static let step =
        #"{"authId":"a.b.c","callbacks":[{"type":"NameCallback","output":[],"input":[{"name":"IDToken1","value":""}]}]}"#
    private static let poll = #"{"authId":"a.b.c","callbacks":[{"type":"PollingWaitCallback","output":[]}]}"#

    private func plan(_ name: String) throws -> Plan {
        var rule = Rule(name: "fault")
        rule.equip(with: FaultByName(try #require(FaultCatalogue.fault(named: name), "\(name)")))
        return Plan(rules: [rule])
    }

    /// Runs both phases; nil if the fault does not concern the exchange.
    private func run(
        _ name: String, _ text: String, _ classification: Classification? = nil, body: String = "",
        response head: String = "HTTP/1.1 200 OK\nContent-Type: application/json", answer: String = Self.step
    ) throws -> Made? {
        let plan = try plan(name)
        var sent = try request(text, scheme: .https)
        var answered = try response(head)
        var context = EditContext(classification)
        var made = Made(
            request: sent, requestOutcome: Outcome(), response: answered, body: answer, outcome: Outcome())
        var isConcerned = false
        if plan.firstRequestMatch(sent, classification) != nil {
            let early = try plan.applied(sent, body: body, &context)
            made.request = early.head
            made.requestOutcome = early.outcome
            isConcerned = early.outcome != Outcome()
            sent = early.head
        }
        if plan.firstResponseMatch(answered, request: sent, classification) != nil {
            let late = try plan.applied(answered, body: answer, to: sent, &context)
            answered = late.head
            (made.response, made.body, made.outcome) = (answered, late.body, late.outcome)
            isConcerned = isConcerned || late.outcome != Outcome()
        }
        return isConcerned ? made : nil
    }

    private func authenticate(_ name: String, body: String = Self.step, answer: String = Self.step) throws -> Made? {
        try run(
            name, "POST \(Self.am)/json/authenticate\nContent-Type: application/json", .of(.authenticate), body: body,
            answer: answer)
    }

    @Test func namesAreUniqueAndTellWhoDoesIt() {
        let names = FaultCatalogue.all.map(\.name)
        #expect(Set(names).count == names.count)
        for fault in FaultCatalogue.all {
            #expect(["am", "oauth", "gateway", "network"].contains(fault.name.prefix { $0 != "-" }), "\(fault.name)")
            #expect(!fault.sees.isEmpty && !fault.remedy.isEmpty && !fault.concerns.isEmpty)
            #expect(fault.request.isEmpty != fault.response.isEmpty, "\(fault.name) stands in one phase")
        }
    }

    @Test(
        "AM refuses in its own words",
        arguments: [
            ("am-authid-expired", 401, "Session has timed out", "110"),
            ("am-wrong-realm", 400, "Domain is invalid", "108"),
            ("am-login-failed", 401, "Authentication Failed", "107"),
            ("am-account-locked", 401, "User Locked Out.", "112"),
            ("am-session-quota", 401, "You have reached your session limit.", "115"),
        ])
    func refusals(_ name: String, _ status: Int, _ message: String, _ code: String) throws {
        let made = try #require(try authenticate(name))
        let reason = status == 401 ? "Unauthorized" : "Bad Request"
        #expect(
            made.answerBody
                == #"{"code":\#(status),"reason":"\#(reason)","message":"\#(message)","detail":{"failureUrl":"","errorCode":"\#(code)"}}"#
        )
        #expect(made.answer?.status == status)
        #expect(made.answer?.headers.first == Pair("Content-Type", "application/json"))
        #expect(try run(name, "GET https://shop.test/pay") == nil)
        #expect(try run(name, "POST \(Self.am)/oauth2/access_token", .of(.exchangeToken)) == nil)
    }

    @Test func refusalsOfAStart() throws {
        let start = "POST \(Self.am)/json/authenticate?authIndexType=service&authIndexValue=Login"
        let tree = try #require(try run("am-tree-unknown", start, .of(.startAuthenticate)))
        #expect(tree.answer?.status == 400 && tree.answerBody.contains(#""errorCode":"105""#))
        #expect(try authenticate("am-tree-unknown") == nil)
        let id = try #require(try authenticate("am-authid-invalid"))
        #expect(id.answerBody == #"{"code":400,"reason":"Bad Request","message":"AuthId JWT Signature not valid"}"#)
        let advised = Classification.of(.startAuthenticate, tree: "<Advices/>", type: "composite_advice")
        let transaction = try #require(try run("am-transaction-expired", start, advised))
        #expect(transaction.answer?.status == 401 && transaction.answerBody.contains(#""errorCode":"128""#))
        #expect(
            try run("am-transaction-expired", start, .of(.startAuthenticate, tree: "Login", type: "service")) == nil)
    }

    @Test("A page of another site may read the refusal, as AM permits it")
    func otherSites() throws {
        let made = try #require(
            try run(
                "am-account-locked", "POST \(Self.am)/json/authenticate\nOrigin: https://app.test",
                .of(.authenticate), body: Self.step))
        #expect(made.answer?.headers.contains(Pair("Access-Control-Allow-Origin", "https://app.test")) == true)
        #expect(made.answer?.headers.contains(Pair("Access-Control-Allow-Credentials", "true")) == true)
        let other = try #require(try authenticate("am-account-locked"))
        #expect(other.answer?.headers.contains { $0.name.hasPrefix("Access-Control") } == false)
    }

    @Test func pollsOfAPush() throws {
        for (name, code) in [("am-push-denied", "107"), ("am-push-expired", "110")] {
            let made = try #require(try authenticate(name, body: Self.poll))
            #expect(made.answer?.status == 401 && made.answerBody.contains("\"errorCode\":\"\(code)\""))
            #expect(try authenticate(name) == nil)
        }
        let endless = try #require(try authenticate("am-polling-endless"))
        let step = try JSONValue(parsing: Array(endless.answerBody.utf8))
        #expect(step["authId"] == "a.b.c" && step["callbacks"]?[0]?["type"] == "PollingWaitCallback")
        #expect(endless.answer?.status == 200)
    }

    @Test func steps() throws {
        let suspended = try #require(try authenticate("am-journey-suspended"))
        let step = try JSONValue(parsing: Array(suspended.body.utf8))
        #expect(step["authId"] == "a.b.c" && step["callbacks"]?.items?.count == 1)
        #expect(step["callbacks"]?[0]?["type"] == "SuspendedTextOutputCallback")
        let unknown = try #require(try authenticate("am-callback-unknown"))
        let callbacks = try JSONValue(parsing: Array(unknown.body.utf8))["callbacks"]
        #expect(callbacks?.items?.count == 2 && callbacks?[1]?["type"] == "UnknownCallback")
        for name in ["am-journey-suspended", "am-callback-unknown"] {
            #expect(try authenticate(name, answer: #"{"tokenId":"t"}"#) == nil, "the end of a journey has no step")
        }
    }

    @Test func sessions() throws {
        let cookies = "Cookie: iPlanetDirectoryPro=abc*; amlbcookie=01"
        let spoiled = "iPlanetDirectoryPro=expired-abc*; amlbcookie=expired-01"
        let am = try #require(
            try run(
                "am-session-expired",
                "GET \(Self.am)/oauth2/authorize\n\(cookies)\niPlanetDirectoryPro: abc*", .of(.authorize)))
        #expect(am.request.fields["Cookie"] == spoiled && am.request.fields["iPlanetDirectoryPro"] == "expired-abc*")
        let sessions = "POST \(Self.am)/json/realms/root/sessions?_action=getSessionInfo"
        #expect(try run("am-session-expired", "\(sessions)\n\(cookies)")?.request.fields["Cookie"] == spoiled)
        #expect(try run("am-session-expired", sessions) == nil)
        #expect(try run("am-session-expired", "GET https://shop.test/pay\n\(cookies)") == nil)
        let gateway = try run("gateway-session-expired", "GET https://shop.test/pay\n\(cookies)")
        #expect(gateway?.request.fields["Cookie"] == spoiled)
        #expect(
            try run("gateway-session-expired", "GET \(Self.am)/oauth2/authorize\n\(cookies)", .of(.authorize)) == nil)
    }

    @Test func anAnswerOfTheServer() throws {
        let tokens = #"{"access_token":"t","expires_in":3599}"#
        let skewed = try #require(
            try run(
                "am-clock-skew", "POST \(Self.am)/oauth2/access_token", .of(.exchangeToken),
                response:
                    "HTTP/1.1 200 OK\nContent-Type: application/json\nDate: Sun, 06 Nov 1994 08:49:37 GMT",
                answer: tokens))
        #expect(skewed.response.fields["Date"] == "Sun, 06 Nov 1994 07:49:37 GMT")
        #expect(skewed.body == #"{"access_token":"t","expires_in":1}"#)
        let keys = try #require(
            try run(
                "am-jwks-rotated", "GET \(Self.am)/oauth2/connect/jwk_uri",
                answer: #"{"keys":[{"kty":"EC","kid":"k1"},{"kty":"EC","kid":"k2"}]}"#))
        #expect(keys.body == #"{"keys":[{"kty":"EC","kid":"rotated-k1"},{"kty":"EC","kid":"rotated-k2"}]}"#)
        let cut = try #require(try authenticate("am-json-truncated"))
        #expect(cut.body == String(Self.step.prefix(Self.step.utf8.count - Self.step.utf8.count / 2)))
        let invalid = try #require(try authenticate("am-json-invalid"))
        #expect(invalid.body == Self.step.dropLast() + ",}")
        let page = try #require(try authenticate("am-page-instead"))
        #expect(page.answer?.status == 200 && page.answerBody.hasPrefix("<html>"))
    }

    @Test func busyServers() throws {
        for (name, status) in [("am-too-many-requests", 429), ("am-unavailable", 503)] {
            let made = try #require(try authenticate(name))
            #expect(made.answer?.status == status && made.answer?.headers.last == Pair("Retry-After", "2"))
            #expect(try run(name, "GET https://shop.test/pay") == nil)
        }
        for (name, status) in [("gateway-too-many-requests", 429), ("gateway-unavailable", 503)] {
            let made = try #require(try run(name, "GET https://shop.test/pay"))
            #expect(made.answer?.status == status && made.answer?.headers == [Pair("Retry-After", "2")])
            #expect(try run(name, "OPTIONS https://shop.test/pay") == nil, "a preflight passes")
            #expect(try authenticate(name) == nil)
        }
    }

    @Test func grants() throws {
        let usual = "The provided access grant is invalid, expired, or revoked."
        let table: [(name: String, actions: [Action], words: String)] = [
            ("oauth-invalid-grant", [.exchangeToken, .refreshToken], usual),
            ("oauth-code-used", [.exchangeToken], usual),
            ("oauth-code-expired", [.exchangeToken], "Authorization code expired."),
            ("oauth-pkce-mismatch", [.exchangeToken], usual), ("oauth-refresh-reused", [.refreshToken], usual),
        ]
        for (name, actions, words) in table {
            for action in [Action.exchangeToken, .refreshToken, .userInfo] {
                let made = try run(name, "POST \(Self.am)/oauth2/access_token", .of(action))
                #expect((made != nil) == actions.contains(action), "\(name)")
                guard let made else { continue }
                #expect(made.answer?.status == 400)
                #expect(made.answerBody == #"{"error_description":"\#(words)","error":"invalid_grant"}"#)
            }
        }
        let expired = try #require(try run("oauth-token-expired", "GET \(Self.am)/oauth2/userinfo", .of(.userInfo)))
        #expect(expired.answer?.status == 401 && expired.answer?.headers.last?.value.hasPrefix("Bearer ") == true)
    }

    @Test func advice() throws {
        let advices = Base64.encode(Array(#"{"TransactionConditionAdvice":["t-1"]}"#.utf8))
        let challenge =
            "HTTP/1.1 401 Unauthorized\nWWW-Authenticate: SSOADVICE realm=\"/bravo\",advices=\"\(advices)\",am_uri=\"\(Self.am)/\""
        let redirect =
            "HTTP/1.1 307 Temporary Redirect\nLocation: \(Self.am)/?goto=x&realm=/bravo&authIndexType=composite_advice&authIndexValue=%3CAdvices/%3E#f"
        func changed(_ name: String) throws -> (advices: String?, location: String?) {
            let header = try #require(try run(name, "GET https://shop.test/pay", response: challenge, answer: ""))
            let line = try #require(header.response.fields["WWW-Authenticate"])
            #expect(
                line.hasPrefix("SSOADVICE realm=\"/bravo\",advices=\"") && line.hasSuffix(",am_uri=\"\(Self.am)/\""))
            let other = try #require(try run(name, "GET https://shop.test/pay", response: redirect, answer: ""))
            return (Challenge.list(line)[0]["advices"], other.response.fields["Location"])
        }
        func json(_ text: String?) -> String? {
            text.flatMap { Base64.decode($0) }.map { String(decoding: $0, as: UTF8.self) }
        }
        let unknown = try changed("gateway-advice-unknown-tree")
        #expect(json(unknown.advices) == #"{"AuthenticateToServiceConditionAdvice":["/bravo:NoSuchTree"]}"#)
        #expect(unknown.location?.contains("NoSuchTree") == true && unknown.location?.hasSuffix("#f") == true)
        let empty = try changed("gateway-advice-empty")
        #expect(json(empty.advices) == "{}")
        #expect(empty.location?.contains("authIndexValue=%3CAdvices%3E%3C%2FAdvices%3E") == true)
        let half = try changed("gateway-advice-truncated")
        #expect(half.advices == String(advices.prefix(advices.count / 2)))
        let login = "HTTP/1.1 302 Found\nLocation: \(Self.am)/?goto=x&realm=/bravo"
        #expect(try run("gateway-advice-empty", "GET https://shop.test/pay", response: login, answer: "") == nil)
        let replay = try #require(
            try run("gateway-transaction-used", "GET https://shop.test/pay?a=1&_txid=t-1\nX-TxID: t-1"))
        #expect(replay.request.query == "a=1" && replay.request.fields["X-TxID"] == nil)
        #expect(try run("gateway-transaction-used", "GET https://shop.test/pay?a=1") == nil)
    }

    @Test func network() throws {
        func outcomes(_ name: String) throws -> Made { try #require(try run(name, "GET https://shop.test/pay")) }
        #expect(try outcomes("network-reset").requestOutcome.verdict == .breaks(.reset, interceptor: "fault"))
        #expect(try outcomes("network-closed").requestOutcome.verdict == .breaks(.empty, interceptor: "fault"))
        let table: [(String, OriginFault)] = [
            ("network-dns-failed", .unresolvable), ("network-connection-refused", .connectionRefused),
            ("network-connection-timeout", .connectionTimeout), ("network-tls-refused", .tls),
        ]
        for (name, fault) in table { #expect(try outcomes(name).requestOutcome.lost == fault) }
        #expect(try outcomes("network-reset-in-body").outcome.ending.cut?.resets == true)
        #expect(try outcomes("network-body-truncated").outcome.ending.cut?.bytes == 16)
        #expect(try outcomes("network-slow-body").outcome.rate == 100)
        let late = try plan("network-slow-first-byte").response(
            response("HTTP/1.1 200 OK"), to: request("GET http://shop.test/"))
        #expect(late.outcome.delays == [DelayWish(interceptor: "fault", time: .fixed(3000))])
        #expect(
            try plan("network-tls-refused").firstRequestMatch(request("GET http://shop.test/"), nil) == nil,
            "plain http has no TLS")
    }

    @Test("Usher's own calls are left alone, unless by names them")
    func ownCalls() throws {
        var own = Classification.of(.authenticate)
        own.isOwn = true
        for fault in FaultCatalogue.all {
            var rule = Rule(name: "fault")
            rule.equip(with: FaultByName(fault))
            #expect(rule.sparesCalls, "\(fault.name)")
        }
        var rule = Rule(name: "fault", when: .test(.by, [.exact("usher")]))
        rule.equip(with: FaultByName(try #require(FaultCatalogue.fault(named: "am-account-locked"))))
        let done = try Plan(rules: [rule]).request(request("POST \(Self.am)/json/authenticate"), own)
        #expect(done.outcome.verdict != .proceed)
    }
}
