import HTTPCodec
import Interception
import Testing

/// `when`: every key and every way to compare, in the request phase unless said otherwise.
struct ConditionTests {
    static func holds(
        _ condition: Condition, _ head: RequestHead, _ classification: Classification? = nil
    ) -> Bool {
        let rules = [Rule(name: "r", when: condition, request: [SetHeader([Pair("X", "1")])])]
        let matched = Plan(rules: rules).firstRequestMatch(head, classification) == 0
        #expect(explain(rules, head, classification).first?.matched == matched)
        return matched
    }

    static let wire = """
        POST https://AM.Example.com:8443/am/json?q=a%20b&q=second&%6Eame=v&empty&flag=
        Accept-Language: en-GB
        accept-language: de
        Cookie: a=1; member=gold; b=x=y
        Cookie: late=2
        X-Requested-Platform: android
        """

    @Test(arguments: [
        (Condition.Key.scheme, "https"), (.scheme, "HTTPS"), (.host, "am.example.com"), (.host, "AM.EXAMPLE.COM"),
        (.port, "8443"), (.path, "/am/json"), (.method, "POST"), (.platform, "android"),
        (.header("ACCEPT-language"), "en-GB"), (.header("Accept-Language"), "de"), (.query("q"), "a b"),
        (.query("q"), "second"), (.query("name"), "v"), (.query("empty"), ""), (.query("flag"), ""),
        (.cookie("member"), "gold"), (.cookie("b"), "x=y"), (.cookie("late"), "2"), (.cookie("a"), "1"),
    ])
    func exactValues(key: Condition.Key, value: String) throws {
        let head = try request(Self.wire)
        #expect(Self.holds(.test(key, [.exact(value)]), head))
        #expect(Self.holds(.test(key, [.exact("other"), .exact(value)]), head))
        #expect(Self.holds(.test(key, [.glob("*")]), head))
        #expect(!Self.holds(.test(key, [.exact(value + "x")]), head))
        #expect(!Self.holds(.not(.test(key, [.glob("*")])), head))
    }

    @Test(arguments: [
        (Condition.Key.path, "/AM/json"), (.method, "post"), (.header("Accept-Language"), "EN-gb"),
        (.query("Q"), "a b"),
        (.cookie("Member"), "gold"), (.platform, "Android"),
    ])
    func letterCaseMattersElsewhere(key: Condition.Key, value: String) throws {
        #expect(!Self.holds(.test(key, [.exact(value)]), try request(Self.wire)))
    }

    @Test(arguments: [(Condition.Key.realm, "/Alpha"), (.tree, "login"), (.type, "Service"), (.action, "authenticate")])
    func letterCaseMattersInWhatARequestMeans(key: Condition.Key, value: String) throws {
        let meant = Classification(
            action: .authenticate, payload: ActionPayload(tree: "Login", type: "service"), realm: "/alpha", evidence: ""
        )
        let head = try request(Self.wire)
        #expect(Self.holds(.test(key, [.glob("*")]), head, meant))
        #expect(!Self.holds(.test(key, [.exact(value)]), head, meant))
    }

    @Test(arguments: [
        Condition.Key.header("Absent"), .query("absent"), .cookie("absent"), .action, .tree, .type, .realm,
    ])
    func whatIsNotThereMatchesNothing(key: Condition.Key) throws {
        let head = try request(Self.wire)
        #expect(!Self.holds(.test(key, [.glob("*")]), head))
        #expect(!Self.holds(.test(key, [.exact("")]), head))
        #expect(Self.holds(.not(.test(key, [.glob("*")])), head))
    }

    @Test func globsAndPatterns() throws {
        let head = try request(Self.wire)
        #expect(Self.holds(.test(.host, [.glob("*.EXAMPLE.com")]), head))
        #expect(!Self.holds(.test(.path, [.glob("/AM*")]), head))
        #expect(Self.holds(.test(.path, [.glob("/am/*")]), head))
        #expect(Self.holds(.test(.host, [.pattern(try Pattern("^am\\."))]), head))
        #expect(Self.holds(.test(.path, [.pattern(try Pattern("js.n"))]), head))
        #expect(!Self.holds(.test(.path, [.pattern(try Pattern("JSON"))]), head))
        #expect(Self.holds(.test(.query("q"), [.pattern(try Pattern("^a b$"))]), head))
        #expect(Self.holds(.test(.port, [.glob("84*")]), head))
        #expect(Self.holds(.test(.port, [.range(8000...9000)]), head))
        #expect(!Self.holds(.test(.port, [.range(1...80)]), head))
    }

    @Test func effectivePortAndEmptyPath() throws {
        let head = try request("GET http://example.com")
        #expect(Self.holds(.test(.port, [.exact("80")]), head))
        #expect(Self.holds(.test(.path, [.exact("/")]), head))
        #expect(Self.holds(.test(.port, [.exact("443")]), try request("GET https://example.com/")))
        #expect(Self.holds(.test(.host, [.exact("::1")]), try request("GET http://[::1]:8080/")))
    }

    @Test func keysOfTheAction() throws {
        let head = try request(Self.wire)
        let start = Classification.of(.startAuthenticate, tree: "Login", type: "service", realm: "/alpha")
        #expect(Self.holds(.test(.action, [.exact("START_AUTHENTICATE")]), head, start))
        #expect(Self.holds(.test(.action, [.exact("LOGOUT"), .exact("START_AUTHENTICATE")]), head, start))
        #expect(Self.holds(.test(.action, [.glob("*_AUTHENTICATE")]), head, start))
        #expect(!Self.holds(.test(.action, [.exact("AUTHENTICATE")]), head, start))
        #expect(Self.holds(.test(.tree, [.exact("Login")]), head, start))
        #expect(Self.holds(.test(.type, [.exact("service")]), head, start))
        #expect(Self.holds(.test(.realm, [.exact("/alpha")]), head, start))
        #expect(!Self.holds(.test(.tree, [.glob("*")]), head, .of(.logout)))
        #expect(!Self.holds(.test(.tree, [.glob("*")]), head, .of(.startAuthenticate, type: "service")))
    }

    @Test func andOrNot() throws {
        let head = try request(Self.wire)
        let yes = Condition.test(.method, [.exact("POST")])
        let no = Condition.test(.method, [.exact("GET")])
        #expect(Self.holds(.always, head))
        #expect(Self.holds(.all([yes, .not(no)]), head))
        #expect(!Self.holds(.all([yes, no]), head))
        #expect(Self.holds(.any([no, yes]), head))
        #expect(!Self.holds(.any([no, no]), head))
        #expect(!Self.holds(.not(.any([no, yes])), head))
        #expect(Self.holds(.all([]), head))
    }

    /// Rules are grouped by Action; no shape of a condition may fall out of its group.
    @Test func actionsInEveryPosition() throws {
        let head = try request(Self.wire)
        let logout = Condition.test(.action, [.exact("LOGOUT")])
        let authorize = Condition.test(.action, [.exact("AUTHORIZE")])
        let post = Condition.test(.method, [.exact("POST")])
        let conditions: [(Condition, unrecognised: Bool, logout: Bool, authorize: Bool, other: Bool)] = [
            (logout, false, true, false, false),
            (.all([post, logout]), false, true, false, false),
            (.any([logout, authorize]), false, true, true, false),
            (.any([logout, post]), true, true, true, true),
            (.not(logout), true, false, true, true),
            (.all([.not(logout), .test(.action, [.glob("*")])]), false, false, true, true),
            (.all([.any([logout, authorize]), .any([logout, .not(post)])]), false, true, false, false),
            (.any([logout, .test(.action, [.pattern(try Pattern("^AUTHO"))])]), false, true, true, false),
        ]
        // all in one plan, so that the groups overlap
        let plan = Plan(
            rules: conditions.enumerated().map { index, row in
                Rule(name: "r\(index)", when: row.0, request: [AddHeader([Pair("X-Ran", "\(index)")])])
            })
        func ran(_ action: Action?) -> [String] {
            plan.request(head, action.map { .of($0) }).head.fields.values(named: "X-Ran")
        }
        func expected(_ column: (Int) -> Bool) -> [String] { conditions.indices.filter(column).map(String.init) }
        #expect(ran(nil) == expected { conditions[$0].unrecognised })
        #expect(ran(.logout) == expected { conditions[$0].logout })
        #expect(ran(.authorize) == expected { conditions[$0].authorize })
        #expect(ran(.userInfo) == expected { conditions[$0].other })
    }

    @Test func theResponsePhaseSeesStatusAndContentType() throws {
        let head = try request(Self.wire)
        let answer = try response("HTTP/1.1 503 No\nContent-Type: Application/JSON ; charset=utf-8")
        func holds(_ condition: Condition) -> Bool {
            let plan = Plan(rules: [Rule(name: "r", when: condition, response: [SetHeader([Pair("X", "1")])])])
            return plan.firstResponseMatch(answer, request: head, nil) != nil
        }
        #expect(holds(.test(.status, [.exact("503")])))
        #expect(holds(.test(.status, [.range(500...599)])))
        #expect(!holds(.test(.status, [.range(400...499), .exact("200")])))
        #expect(holds(.test(.contentType, [.exact("application/json")])))
        #expect(holds(.test(.contentType, [.glob("APPLICATION/*")])))
        #expect(!holds(.test(.contentType, [.exact("text/plain")])))
        #expect(holds(.all([.test(.path, [.glob("/am/*")]), .test(.cookie("member"), [.exact("gold")])])))
    }

    @Test func whatNeedsAResponseNeverRunsBefore() throws {
        let head = try request(Self.wire)
        let status = Condition.test(.status, [.exact("200")])
        for condition in [
            status, .not(status), .any([.always, .test(.contentType, [.glob("*")])]), .all([.not(status)]),
        ] {
            #expect(!Self.holds(condition, head))
        }
    }
}
