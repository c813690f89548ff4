import Interception
import Testing

/// `when: { path: … }` asks for a path, however it is spelled.
struct PathConditionTests {
    private func holds(_ matcher: TextMatcher, _ target: String) throws -> Bool {
        ConditionTests.holds(.test(.path, [matcher.onPaths]), try request("GET http://h.example.com\(target)"))
    }

    @Test(arguments: [
        "/admin", "/%61dmin", "/%61%64%6D%69%6E", "//admin", "/./admin", "/x/../admin", "/x/%2e%2e/admin", "/admin?x",
        "/%2E/admin",
    ])
    func anySpelling(_ target: String) throws {
        for matcher in [
            TextMatcher.exact("/admin"), .exact("/%61dmin"), .exact("/x/..//admin"), .glob("/adm*"), .glob("*/%61dmin"),
        ] {
            #expect(try holds(matcher, target), "\(matcher) \(target)")
        }
        #expect(try holds(.pattern(Pattern("^/admin$")), target))
        #expect(try !holds(.glob("/x/*"), target))
        #expect(try !holds(.exact("/Admin"), target))
    }

    @Test(arguments: ["/a%2Fb", "/a%2fb"])
    func anEncodedSlashIsNone(_ target: String) throws {
        #expect(try holds(.exact("/a%2fb"), target) && holds(.exact("/a%2Fb"), target))
        #expect(try !holds(.exact("/a/b"), target))
        #expect(try !holds(.exact("/a%2Fb"), "/a/b"))
    }

    @Test func otherCharacters() throws {
        #expect(try holds(.exact("/caf\u{E9}"), "/caf%c3%a9") && holds(.exact("/a b/{id}"), "/a%20b/%7Bid%7D"))
        #expect(try holds(.exact("/"), "") && holds(.exact("/"), "/x/..") && holds(.glob("/*"), "/.."))
        #expect(try !holds(.exact("/a;b"), "/a%3Bb") && !holds(.exact("/a?b"), "/a%3Fb"))
    }

    /// What stands in neither form is excluded in neither.
    @Test func notThatPath() throws {
        let condition = Condition.not(.test(.path, [TextMatcher.glob("/public/*").onPaths]))
        #expect(ConditionTests.holds(condition, try request("GET http://h.example.com/public/../admin")))
        #expect(!ConditionTests.holds(condition, try request("GET http://h.example.com/%70ublic/x")))
    }
}
