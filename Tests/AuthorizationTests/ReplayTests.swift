import Authorization
import HTTPCodec
import Testing

@Suite("Replay and rounds")
struct ReplayTests {
    private let resource = AuthorizationPolicy.Resource(url: "https://shop.example.test/*")

    private func transaction(_ id: String, _ source: Advice.Source = .header) -> Advice {
        Advice(source: source, conditions: [.init("TransactionConditionAdvice", [id])])
    }

    private func tree(_ value: String, _ source: Advice.Source) -> Advice {
        Advice(source: source, conditions: [.init("AuthenticateToServiceConditionAdvice", [value])])
    }

    private func replay(
        _ head: RequestHead, _ rounds: [(Advice, StepUp.Outcome)], body: String = "",
        resource: AuthorizationPolicy.Resource? = nil
    ) throws -> (request: Replay.Request, cookies: [String]) {
        let bytes = Array(body.utf8)
        let session = try #require(SessionSource.find(in: head, body: bytes, policy: policy()))
        var replay = Replay(policy: policy(), resource: resource ?? self.resource, session: session)
        for round in rounds { replay.absorb(round.0, round.1) }
        return (try replay.request(head, body: bytes), replay.cookiesForClient(head))
    }

    private func get(_ url: String, _ lines: [(String, String)] = [("Cookie", "iPlanetDirectoryPro=A")]) throws
        -> RequestHead
    {
        try request("GET", url, lines)
    }

    @Test(arguments: [
        ("https://shop.example.test", "https://shop.example.test/?_txid=t"),
        ("https://shop.example.test/a?", "https://shop.example.test/a?_txid=t"),
        ("https://shop.example.test?x", "https://shop.example.test/?x&_txid=t"),
        ("https://shop.example.test:8443/a?_txid=o&_txid=p&&q=1", "https://shop.example.test:8443/a?&q=1&_txid=t"),
        ("https://shop.example.test/a?%5Ftxid=o&x=%e4", "https://shop.example.test/a?x=%e4&_txid=t"),
        ("https://shop.example.test/a?x=_txid=o&my_txid=p", "https://shop.example.test/a?x=_txid=o&my_txid=p&_txid=t"),
    ])
    func theQueryKeepsItsBytes(_ url: String, _ expected: String) throws {
        #expect(try replay(get(url), [(transaction("t"), .init())]).request.head.url == expected)
    }

    /// In the place of a stale one, however that is spelled, and nothing else changes.
    @Test(arguments: [
        ("?_txid=a&x=%2f%2F&_txid=b&y=+&_TXID=c", "?x=%2f%2F&y=+&_TXID=c&_txid=t"),
        ("?%5ftxid=a&%5Ftxi%64=b&z", "?z&_txid=t"), ("?x=1;_txid=2", "?x=1;_txid=2&_txid=t"),
        ("?_txid", "?_txid=t"), ("?a=1&&b=2&", "?a=1&&b=2&&_txid=t"), ("?q=%zz%", "?q=%zz%&_txid=t"),
        ("/%7Euser/%2e?x", "/%7Euser/%2e?x&_txid=t"), ("?x=a?b=c", "?x=a?b=c&_txid=t"),
    ])
    func aStaleIdIsReplacedAndOddBytesStay(_ rest: String, _ expected: String) throws {
        let url = "https://shop.example.test/a"
        #expect(try replay(get(url + rest), [(transaction("t"), .init())]).request.head.url == url + expected)
    }

    @Test func aStaleFieldIsReplaced() throws {
        let byField = AuthorizationPolicy.Resource(url: "*", present: .header("X-TxID"))
        let head = try get(
            "https://shop.example.test/a",
            [("Cookie", "iPlanetDirectoryPro=A"), ("x-txid", "old"), ("X-Odd", "  kept "), ("X-TXID", "older")])
        let sent = try replay(head, [(transaction("t"), .init())], resource: byField).request.head
        #expect(sent.fields.values(named: "X-TxID") == ["t"] && sent.fields["X-Odd"] == "  kept ")
        #expect(sent.fields.count == head.fields.count - 1)
    }

    // MARK: the id token

    private func shown(
        _ idToken: String?, _ url: String, _ advice: Advice, isWanted: Bool = true,
        _ change: (inout RequestHead) -> Void = { _ in }
    ) throws -> RequestHead {
        var wanting = policy()
        wanting.showsIDToken = isWanted
        var head = try get(url)
        change(&head)
        let session = try #require(SessionSource.find(in: head, body: [], policy: wanting))
        var replay = Replay(policy: wanting, resource: resource, session: session, idToken: idToken)
        replay.absorb(advice, .init())
        return try replay.request(head, body: []).head
    }

    @Test func anIDTokenGoesAlongWhereItIsAskedFor() throws {
        let url = "https://shop.example.test/a"
        #expect(try shown("h.p.s", url, transaction("t")).url == url + "?_txid=t&_idtoken=h.p.s")
        #expect(try shown("h.p.s", url, tree("T", .header)).url == url + "?_idtoken=h.p.s")
        #expect(
            try shown("h.p.s", url + "?_idtoken=old&x=%20", transaction("t")).url == url
                + "?x=%20&_txid=t&_idtoken=h.p.s")
        let field = try shown("h.p.s", url, transaction("t", .body)) { $0.fields.add("x-idtoken", "old") }
        #expect(field.url == url && field.fields.values(named: "X-IdToken") == ["h.p.s"])
        #expect(try shown("h.p.s", url, transaction("t"), isWanted: false).url == url + "?_txid=t")
        #expect(try shown(nil, url, transaction("t")).url == url + "?_txid=t")
    }

    /// The session that Usher shows stands in no request of the client's, and the client learns nothing of it.
    @Test func aSessionThatIsShownIsReplacedNowhere() throws {
        let head = try get("https://shop.example.test/a", [("Cookie", "a=1")])
        var replay = Replay(policy: policy(), resource: resource, session: .init(token: "OWN", carrier: .provided))
        replay.absorb(tree("T", .header), .init(session: "OWN-2", setCookieLines: ["iPlanetDirectoryPro=OWN-2"]))
        #expect(try replay.request(head, body: []).head.fields["Cookie"] == "a=1")
        #expect(replay.cookiesForClient(head).isEmpty && replay.session.token == "OWN-2")
    }

    @Test func anIdCannotInject() throws {
        let url = "https://shop.example.test/a"
        let odd = "t\r\nX: 1&a=b#c"
        #expect(
            try replay(get(url), [(transaction(odd), .init())]).request.head.url
                == url + "?_txid=t%0D%0AX%3A%201%26a%3Db%23c")
        let head = try get(url)
        #expect(throws: Replay.Refusal.self) { try replay(head, [(transaction(odd, .body), .init())]) }
        #expect(throws: Replay.Refusal.self) { try replay(head, [(tree("a\nb", .body), .init())]) }
    }

    /// A head as it comes from a client, with these bytes as its query.
    private func parsed(_ query: [UInt8]) throws -> RequestHead {
        let start = Array("GET /a?".utf8) + query
        let input = start + Array(" HTTP/1.1\r\nHost: shop.example.test\r\niPlanetDirectoryPro: A\r\n\r\n".utf8)
        var parser = HeadParser()
        var head = RequestHead()
        #expect(try parser.parse(input.span, into: &head, limits: HeadLimits()) == input.count)
        try head.settleHost(scheme: .https)
        return head
    }

    @Test func aRequestFromInsideATunnelIsReplayedToItsHost() throws {
        let sent = try replay(parsed(Array("x=1".utf8)), [(transaction("t"), .init())]).request
        #expect(sent.head.url == "https://shop.example.test/a?x=1&_txid=t")
        #expect(sent.head.fields["Host"] == "shop.example.test")
    }

    @Test func bytesThatWouldNotSurviveAreNotReplayed() throws {
        let head = try parsed([0x78, 0x3D, 0xE4])
        #expect(throws: Replay.Refusal.self) { try replay(head, [(transaction("t"), .init())]) }
        let byField = AuthorizationPolicy.Resource(url: "*", present: .header("X-TxID"))
        let kept = try replay(head, [(transaction("t"), .init())], resource: byField).request.head
        #expect(kept.fields.bytes[kept.target.whole.indices].last == 0xE4)
    }

    @Test func theResourcesOwnStyleComesFirst() throws {
        let url = "https://shop.example.test/a"
        let byField = AuthorizationPolicy.Resource(url: url, present: .header("X-My-Id"))
        let first = try replay(get(url), [(transaction("t"), .init())], resource: byField).request
        #expect(first.head.fields["X-My-Id"] == "t" && first.head.url == url)
        let byQuery = AuthorizationPolicy.Resource(url: url, present: .query("id"))
        let second = try replay(get(url), [(transaction("t", .body), .init())], resource: byQuery).request
        #expect(second.head.url == url + "?id=t" && second.head.fields["X-TxID"] == nil)
        #expect(
            try replay(get(url), [(tree("T", .body), .init())], resource: byQuery).request.head.fields["X-Tree"] == nil)
        #expect(
            try replay(get(url), [(tree("T", .header), .init())], resource: byField).request.head.fields["X-Tree"]
                == nil)
    }

    @Test func roundsAddUp() throws {
        let url = "https://shop.example.test/a"
        let all = try replay(
            get(url, [("Cookie", "x=1; iPlanetDirectoryPro=A; amlbcookie=01"), ("X-Other", "y")]),
            [
                (tree("T", .body), .init(session: "B", affinity: "02")), (transaction("t1", .body), .init()),
            ])
        #expect(all.request.head.fields["Cookie"] == "x=1; iPlanetDirectoryPro=B; amlbcookie=02")
        #expect(all.request.head.fields["X-Tree"] == "T" && all.request.head.fields["X-TxID"] == "t1")
        #expect(all.request.head.url == url && all.request.head.fields["X-Other"] == "y")
        #expect(all.cookies == ["iPlanetDirectoryPro=B; Path=/; HttpOnly; Secure"])
    }

    @Test func theSessionIsReplacedWhereItStood() throws {
        let url = "http://shop.example.test/a"
        let new = StepUp.Outcome(session: "B")
        let field = try replay(get(url, [("iplanetdirectorypro", "A")]), [(tree("T", .header), new)])
        #expect(field.request.head.fields["iPlanetDirectoryPro"] == "B" && field.request.head.fields["Cookie"] == nil)
        #expect(field.cookies == ["iPlanetDirectoryPro=B; Path=/; HttpOnly"])
        let twice = try replay(
            get(url, [("Cookie", "a=1"), ("Cookie", "iPlanetDirectoryPro=A; iPlanetDirectoryPro=old")]),
            [(tree("T", .header), new)])
        #expect(twice.request.head.fields.values(named: "Cookie") == ["a=1", "iPlanetDirectoryPro=B"])
    }

    @Test(arguments: [
        ("s=B; Path=/; Domain=am.example.test; Secure", "s=B; Path=/; Secure"),
        ("s=B;path=/;domain=.example.test;secure", "s=B;path=/;domain=.example.test;secure"),
        ("s=B; Domain=shop.example.test", "s=B; Domain=shop.example.test"),
        ("s=B; Domain=op.example.test", "s=B"),
    ])
    func cookiesFitTheResourcesHost(_ line: String, _ expected: String) throws {
        let line = line.replacing("s=B", with: "iPlanetDirectoryPro=B")
        let outcome = StepUp.Outcome(session: "B", setCookieLines: [line, "amlbcookie=02; Path=/"])
        let cookies = try replay(get("https://shop.example.test/a"), [(tree("T", .header), outcome)]).cookies
        #expect(cookies == [expected.replacing("s=B", with: "iPlanetDirectoryPro=B"), "amlbcookie=02; Path=/"])
    }

    /// AM told the session in the body alone: the line is as AM sets its others.
    @Test(arguments: [
        (["amlbcookie=02;path=/;samesite = Lax"], "; SameSite=Lax"),
        (["amlbcookie=02; SameSite=None"], "; SameSite=None"),
        (["amlbcookie=02; SameSite"], ""), (["amlbcookie=SameSite=Strict; Path=/"], ""),
        (["amlbcookie=02; SameSite=x\"y"], ""), ([], ""),
    ])
    func aCookieOfOurOwnIsAsAMHasThem(_ lines: [String], _ site: String) throws {
        let outcome = StepUp.Outcome(session: "B", setCookieLines: lines)
        for (scheme, secure) in [("http", ""), ("https", "; Secure")] {
            let cookies = try replay(get("\(scheme)://shop.example.test/a"), [(tree("T", .header), outcome)]).cookies
            #expect(cookies == ["iPlanetDirectoryPro=B; Path=/; HttpOnly\(secure)\(site)"] + lines)
        }
    }

    // MARK: policy evaluations

    private func evaluation(_ cookie: String) throws -> RequestHead {
        try request(
            "POST", "https://am.example.test/am/json/policies?_action=evaluate",
            [("Cookie", "iPlanetDirectoryPro=\(cookie)"), ("Content-Length", "33")])
    }

    @Test func aPolicyEvaluationCarriesTheIdInItsBody() throws {
        let body = "{ \"subject\": {\"ssoToken\":\"A\"}, \"environment\": null, \"n\": 1.50 }"
        let sent = try replay(evaluation("A"), [(transaction("t", .body), .init())], body: body).request
        let expected = "{ \"subject\": {\"ssoToken\":\"A\"}, \"environment\": {\"TxId\":[\"t\"]}, \"n\": 1.50 }"
        #expect(String(decoding: sent.body, as: UTF8.self) == expected)
        #expect(sent.head.fields["Content-Length"] == String(expected.utf8.count))
        #expect(sent.head.fields["X-TxID"] == nil)
        #expect(sent.head.url == "https://am.example.test/am/json/policies?_action=evaluate")
    }

    @Test func theCallerOfAPolicyEvaluationKeepsItsSession() throws {
        let body = "{\"subject\":{\"ssoToken\":\"A\"}}"
        let outcome = StepUp.Outcome(session: "B", affinity: "02")
        let other = try replay(evaluation("SERVICE"), [(tree("T", .body), outcome)], body: body)
        #expect(String(decoding: other.request.body, as: UTF8.self) == "{\"subject\":{\"ssoToken\":\"B\"}}")
        #expect(other.request.head.fields["Cookie"] == "iPlanetDirectoryPro=SERVICE")
        #expect(other.cookies.isEmpty)
        let own = try replay(evaluation("A"), [(tree("T", .body), outcome)], body: body)
        #expect(own.request.head.fields["Cookie"] == "iPlanetDirectoryPro=B")
        #expect(own.cookies == ["iPlanetDirectoryPro=B; Path=/; HttpOnly; Secure"])
    }

    @Test func whatIsNoQuestionIsLeft() throws {
        let session = SessionSource(token: "A", carrier: .cookie)
        var replay = Replay(policy: policy(), resource: resource, session: session)
        replay.absorb(transaction("t", .body), .init())
        let head = try evaluation("A")
        for body in ["[1]", "no json", ""] {
            #expect(throws: Replay.Refusal.self) { try replay.request(head, body: Array(body.utf8)) }
        }
    }

    // MARK: rounds

    @Test func roundsAreCountedByKind() {
        var rounds = Rounds(policy())
        let both = Advice(source: .header, conditions: tree("T", .header).conditions + transaction("t").conditions)
        #expect(rounds.refusal(of: both) == nil)
        rounds.begin(tree("T", .header))
        #expect(rounds.refusal(of: tree("T", .header)) != nil)
        #expect(rounds.refusal(of: both) != nil)
        #expect(rounds.refusal(of: transaction("t")) == nil)
        rounds.begin(transaction("t"))
        #expect(rounds.refusal(of: transaction("t2")) != nil)
        let once = rounds.askAgain(after: transaction("t"))
        #expect(rounds.refusal(of: transaction("t2")) == nil)
        rounds.begin(transaction("t2"))
        let twice = rounds.askAgain(after: transaction("t2"))
        #expect(once && !twice)
        #expect(rounds.refusal(of: transaction("t3")) != nil)

        var none = policy()
        none.transactionRounds = 0
        #expect(Rounds(none).refusal(of: transaction("t")) != nil)
    }
}
