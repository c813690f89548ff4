import HTTPCodec
import Interception
import Testing

struct ExplainTests {
    static let head = Result {
        try request("POST https://am.example.com/am/x?code=s3cr3t\nAuthorization: s3cr3t\nCookie: c=s3cr3t")
    }

    static func because(_ condition: Condition, _ classification: Classification? = nil) throws -> RuleVerdict {
        let rules = [Rule(name: "r", when: condition, request: [SetHeader([Pair("X", "1")])])]
        return try #require(explain(rules, try head.get(), classification).first)
    }

    @Test func theTermThatDecided() throws {
        let next = Classification.of(.authenticate, tree: "Login", type: "service")
        let start = Condition.test(.action, [.exact("START_AUTHENTICATE")])
        let login = Condition.test(.tree, [.exact("Login"), .glob("Log*")])
        let isNext = "action is AUTHENTICATE, wanted START_AUTHENTICATE"
        #expect(
            try Self.because(start, next)
                == RuleVerdict(name: "r", matched: false, because: isNext, misses: [isNext]))
        #expect(try Self.because(start).because == "there is no action, wanted START_AUTHENTICATE")
        var unknown = Classification(action: .authenticate, payloadSource: .unknown, evidence: "")
        #expect(try Self.because(login, unknown).because == "nothing tells the tree, wanted Login or Log*")
        unknown.payloadSource = .default
        #expect(try Self.because(login, unknown).because == "there is no tree, wanted Login or Log*")
        #expect(
            try Self.because(.all([login, .test(.method, [.exact("POST")])]), next)
                == RuleVerdict(name: "r", matched: true, because: "tree is Login and method is POST", held: 2))
        #expect(
            try Self.because(.any([start, .test(.host, [.pattern(try Pattern("^shop"))])]), next).because
                == "\(isNext); host is am.example.com, wanted ~^shop")
        #expect(try Self.because(.not(start), next).matched)
        #expect(try Self.because(.always).because == "applies to everything")
        #expect(try Self.because(.test(.port, [.range(80...90)])).because == "port is 443, wanted 80-90")
    }

    @Test func whatIsMissing() throws {
        let next = Classification.of(.authenticate, tree: "Login", type: "service")
        let start = Condition.test(.action, [.exact("START_AUTHENTICATE")])
        let post = Condition.test(.method, [.exact("POST")])
        let put = Condition.test(.method, [.exact("PUT")])
        let near = try Self.because(.all([start, post, .not(put)]), next)
        #expect(near.misses == ["action is AUTHENTICATE, wanted START_AUTHENTICATE"] && near.held == 2)
        // the nearer of two ways counts
        let either = try Self.because(.any([.all([start, put]), .all([post, put])]), next)
        #expect(either.misses == ["method is POST, wanted PUT"] && either.held == 1)
        #expect(try Self.because(.any([start, post]), next).misses == [])
        #expect(try Self.because(.not(post)).misses == ["not (method is POST)"])
        #expect(try Self.because(.all([start, put]), next).misses.count == 2)
    }

    @Test(arguments: [Condition.Key.header("Authorization"), .cookie("c"), .query("code")])
    func secretsAreNotShown(key: Condition.Key) throws {
        for matcher in [TextMatcher.exact("s3cr3t"), .exact("s3cr3tx")] {
            let verdict = try Self.because(.test(key, [matcher]))
            #expect(!verdict.because.contains("s3cr3t"))
            #expect(verdict.because.contains("is there"))
        }
        #expect(try !Self.because(.test(.header("Absent"), [.exact("s3cr3t")])).because.contains("s3cr3t"))
    }

    @Test func everyRuleHasAVerdictInFileOrder() throws {
        let edit: [any RequestEdit] = [SetHeader([Pair("X-Mark", "1")])]
        let rules = [
            Rule(name: "mark", request: edit),
            Rule(name: "sees-mark", when: .test(.header("X-Mark"), [.exact("1")]), request: edit),
            Rule(name: "answers", when: .test(.status, [.exact("401")]), response: [SetStatus(200)]),
            Rule(name: "any-answer", response: [SetHeader([Pair("X", "1")])]),
            Rule(name: "stops", request: [Abort("enough")]),
            Rule(name: "late", request: edit),
        ]
        let verdicts = explain(rules, try Self.head.get())
        #expect(verdicts.map(\.name) == ["mark", "sees-mark", "answers", "any-answer", "stops", "late"])
        #expect(verdicts.map(\.matched) == [true, true, false, true, true, false])
        #expect(
            verdicts[2].because == "its condition tests the response, and stops ended the phase first"
        )
        #expect(verdicts[3].because == "applies to everything; it runs in the response phase")
        #expect(verdicts[5].because == "stops ended the phase first")
    }

    @Test func eachPhaseIsJudgedByItself() throws {
        let plan = Plan(
            rules: [
                Rule(name: "to-200", when: .test(.status, [.exact("401")]), response: [SetStatus(200)]),
                Rule(name: "still-401", when: .test(.status, [.exact("401")]), response: [SetStatus(500)]),
                Rule(name: "request", request: [SetMethod("GET")]),
                Rule(name: "stops", response: [Abort("enough")]),
                Rule(name: "late", response: [SetStatus(204)]),
            ], explains: true)
        let request = plan.request(try Self.head.get()).outcome.judgement
        #expect(request?.phase == .request)
        #expect(request?.verdicts.map(\.takesPart) == [false, false, true, false, false])
        let response = plan.response(try response("HTTP/1.1 401 No"), to: try Self.head.get()).outcome.judgement
        #expect(response?.phase == .response)
        #expect(response?.verdicts.map(\.name) == ["to-200", "still-401", "stops", "late"])
        #expect(response?.verdicts.map(\.matched) == [true, false, true, false])
        #expect(response?.verdicts[1].because == "status is 200, wanted 401")
        #expect(response?.verdicts[3].because == "stops ended the phase first")
    }

    @Test("A plan that explains itself does what any other does, and only it tells")
    func sameResult() throws {
        let rules = [
            Rule(name: "not", when: .test(.host, [.exact("h")]), request: [SetMethod("GET")]),
            Rule(name: "does", when: .test(.method, [.exact("POST")]), request: [SetHeader([Pair("X", "1")])]),
        ]
        let (plain, telling) = (Plan(rules: rules), Plan(rules: rules, explains: true))
        let head = try Self.head.get()
        #expect(
            plain.request(head).head.fields.lines.map(\.name) == telling.request(head).head.fields.lines.map(\.name))
        #expect(plain.request(head).outcome.judgement == nil)
        #expect(plain.request(head).outcome.changes == telling.request(head).outcome.changes)
    }
}
