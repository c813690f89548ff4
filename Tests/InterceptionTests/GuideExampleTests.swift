import HTTPCodec
import Interception
import Testing

/// The interceptors that the SDK guides show, as rules: classified from the wire and applied to it.
struct GuideExampleTests {
    let classifier = Classifier(servers: [
        AuthorizationServer(url: "https://openam.example.com/am", host: "openam.example.com")
    ])

    static let start = """
        POST https://openam.example.com/am/json/realms/root/realms/alpha/authenticate?authIndexType=service&authIndexValue=Login
        Accept-API-Version: protocol=1.0,resource=2.1
        Cookie: amlbcookie=01
        """
    static let next = """
        POST https://openam.example.com/am/json/realms/root/realms/alpha/authenticate
        Accept-Language: de
        Content-Length: 17
        """
    static let other = "GET https://openam.example.com/am/oauth2/realms/root/realms/alpha/userinfo"

    func run(_ plan: Plan, _ wire: String, body: String? = nil) throws -> (head: RequestHead, outcome: Outcome) {
        let head = try request(wire)
        return plan.request(head, classifier.classify(head, body: body.map { Array($0.utf8) }))
    }

    static let member = Rule(
        name: "member",
        request: [
            Interception.SetCookie(
                CookieEdit(name: "member", value: "gold", domain: "example.com", secure: true, httpOnly: true))
        ])

    @Test func android() throws {
        let plan = Plan(rules: [
            Rule(
                name: "force-auth", when: .test(.action, [.exact("START_AUTHENTICATE")]),
                request: [
                    AddQuery([Pair("ForceAuth", "true")]), AddHeader([Pair("Accept-Language", "en-GB")]),
                ]),
            Self.member,
        ])
        let (head, outcome) = try run(plan, Self.start)
        #expect(
            head.query == "authIndexType=service&authIndexValue=Login&ForceAuth=true")
        #expect(head.fields.values(named: "Accept-Language") == ["en-GB"])
        #expect(head.fields["Cookie"] == "amlbcookie=01; member=gold")
        #expect(
            outcome.changes == [
                "force-auth: added query ForceAuth, added header Accept-Language", "member: set cookie member",
            ])

        let userInfo = try run(plan, Self.other).head
        #expect(userInfo.query == nil)
        #expect(userInfo.fields["Cookie"] == "member=gold")
        let elsewhere = try run(plan, "GET https://example.org/").head
        #expect(elsewhere.fields["Cookie"] == nil)
    }

    @Test func iOS() throws {
        let both = Condition.test(.action, [.exact("START_AUTHENTICATE"), .exact("AUTHENTICATE")])
        let plan = Plan(rules: [
            Rule(
                name: "force-auth", when: both,
                request: [
                    SetQuery([Pair("ForceAuth", "true")]), SetHeader([Pair("Accept-Language", "en-GB")]),
                ]),
            Rule(
                name: "cookies", when: both,
                request: [
                    RemoveHeader(["Cookie"]), Interception.SetCookie(CookieEdit(name: "member", value: "gold")),
                    Interception.SetCookie(CookieEdit(name: "level", value: "2")),
                ]),
        ])
        let first = try run(plan, Self.start).head
        #expect(first.query == "authIndexType=service&authIndexValue=Login&ForceAuth=true")
        #expect(first.fields.values(named: "Cookie") == ["member=gold; level=2"])
        let second = try run(plan, Self.next, body: #"{"authId":"a.b.c"}"#).head
        #expect(second.query == "ForceAuth=true")
        #expect(second.fields.values(named: "Accept-Language") == ["en-GB"])
        #expect(try run(plan, Self.other).outcome == Outcome())
    }

    @Test func javaScript() throws {
        let start = Condition.test(.action, [.exact(Action(named: "JOURNEY_START").rawValue)])
        let plan = Plan(rules: [
            Rule(name: "force-auth", when: start, request: [SetQuery([Pair("ForceAuth", "true")])]),
            Rule(name: "headers", when: start, request: [AddHeader([Pair("Accept-Language", "en-GB")])]),
        ])
        let (head, outcome) = try run(plan, Self.start)
        #expect(head.query == "authIndexType=service&authIndexValue=Login&ForceAuth=true")
        #expect(head.fields["Accept-Language"] == "en-GB")
        #expect(outcome.changes == ["force-auth: set query ForceAuth", "headers: added header Accept-Language"])
        #expect(try run(plan, Self.next, body: #"{"authId":"a.b.c"}"#).outcome == Outcome())
    }

    @Test func theOrderIsTheFiles() throws {
        func language(_ rules: [Rule]) throws -> [String] {
            try run(Plan(rules: rules), Self.start).head.fields.values(named: "Accept-Language")
        }
        let sets = Rule(name: "sets", request: [SetHeader([Pair("Accept-Language", "en-GB")])])
        let adds = Rule(name: "adds", request: [AddHeader([Pair("Accept-Language", "fr")])])
        #expect(try language([sets, adds]) == ["en-GB", "fr"])
        #expect(try language([adds, sets]) == ["en-GB"])
    }
}
