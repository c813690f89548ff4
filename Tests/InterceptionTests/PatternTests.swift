import Glibc
import HTTPCodec
import Interception
import Testing

/// Regular expressions: what they find, and that none of them thinks for ever.
struct PatternTests {
    private static func found(_ pattern: Pattern, _ bytes: [UInt8]) throws -> Bool {
        var head = RequestHead()
        var parser = HeadParser()
        let wire = Array("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX: ".utf8) + bytes + Array("\r\n\r\n".utf8)
        #expect(try parser.parse(wire.span, into: &head, limits: HeadLimits(bytes: 1 << 20)) != nil)
        let rule = Rule(
            name: "r", when: .test(.header("X"), [.pattern(pattern)]), request: [SetHeader([Pair("Y", "1")])])
        return Plan(rules: [rule]).firstRequestMatch(head, nil) == 0
    }

    private static func found(_ text: String, _ value: String) throws -> Bool {
        try found(Pattern(text), Array(value.utf8))
    }

    @Test(
        "Both ways of running an expression find the same",
        arguments: [
            ("b", "abc", true), ("^b", "abc", false), ("c$", "abc", true), ("^a.c$", "a\u{FC}c", true),
            ("^.{3}$", "\u{4E2D}\u{6587}\u{5B57}", true), ("[\u{E4}\u{F6}]", "\u{FC}", false), ("B", "abc", false),
            ("(?i)B", "abc", true), ("^(a|b)+$", "abab", true), ("(a+)\\1b", "aaaab", true),
            ("(?<=a)b", "ab", true), ("\\d{2,}", "a1b22", true), ("", "", true), ("^$", "a", false),
        ])
    func semantics(_ text: String, _ value: String, _ holds: Bool) throws {
        #expect(try Self.found(text, value) == holds)
        #expect(try Self.found("(*NO_JIT)\(text)", value) == holds)
    }

    @Test("The end is the end: no line break hides behind it")
    func end() throws {
        let head = try request("GET http://a.test/?q=safe%0A")
        let plan = Plan(rules: [
            Rule(
                name: "r", when: .test(.query("q"), [.pattern(try Pattern("^safe$"))]),
                request: [SetHeader([Pair("Y", "1")])])
        ])
        #expect(plan.firstRequestMatch(head, nil) == nil)
    }

    @Test(
        "Bytes that are no UTF-8 are judged as a reader sees them, and evade no rule",
        arguments: ["", "(*NO_JIT)"])
    func notText(_ how: String) throws {
        let odd: [[UInt8]] = [[0xFF], [0xC3], [0xE4, 0xB8], [0xF5, 0x80], [0xED, 0xA0, 0x80], [0xC0, 0xAF]]
        for one in odd {
            let value = Array("admin".utf8) + one + Array("/x".utf8)
            #expect(try Self.found(Pattern(how + "^admin.*x$"), value))
            #expect(try Self.found(Pattern(how + "^admin[^/]+/x$"), value))
            #expect(try !Self.found(Pattern(how + "^admin/"), value))
        }
    }

    @Test(
        "An expression that would think for ever reaches its limit and does not match",
        arguments: [
            "(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*)*x$", "([a-z]+)*!", "(?:a{1,50}){1,50}b", "(a+)\\1+b", ".*.*.*x$",
            "a{8000}b", "(?i)(a+)\\1+b", "(x+x+)+y|(a+)+$", "(?:a|b|c)*c$|(?:a|a)*$", "(*sr:.*)xx-",
        ], ["", "(*NO_JIT)", "(*LIMIT_MATCH=4000000000)(*LIMIT_HEAP=4000000000)(*LIMIT_DEPTH=4000000000)"])
    func limits(_ text: String, _ before: String) throws {
        let pattern = try Pattern(before + text, place: "here")
        #expect(PatternProbe.limit(of: pattern) != nil)
        #expect(pattern.watch.word(now: 0) == nil, "a trial is no match of a request")
        let run = [UInt8](repeating: 0x61, count: 4_000)
        let value = Array([run, [0x62], run, [0x62], run, Array("xyx-!-".utf8)].joined())
        #expect(try !Self.found(pattern, value))
        let word = try #require(pattern.watch.word(now: 0))
        #expect(word.hasPrefix("the pattern ~\(before)\(text) (here) reached its limit of "))
        #expect(word.hasSuffix(" once; it was taken not to match"))
    }

    @Test(
        "What configurations ask for stays far from every limit",
        arguments: [
            ".*login.*", "^/api/[^/]+/users", "^https?://([^/]+)/(.*)$", "[?&]code=", "^(?:[a-z0-9]|%[0-9a-f]{2})*$",
            "js.n",
            "^am\\.", "\\.(png|css|js)$", "(.*)*", "^(a+)+", "^[0-9a-f]{8}-[0-9a-f]{4}$",
            "(?:select|union|insert|update|delete|drop|exec)",
        ], ["", "(*NO_JIT)"])
    func apt(_ text: String, _ before: String) throws {
        let pattern = try Pattern(before + text)
        #expect(PatternProbe.limit(of: pattern) == nil)
    }

    @Test(
        "No long text hides what stands behind it from an expression that takes time by the length alone",
        arguments: [
            ("(?:select|union|insert|update|delete|drop|exec)", "s", "select"),
            ("(?i)(?:admin|actuator|api-docs|auth)", "a", "ADMIN"),
            ("\\.(?:php|asp|aspx|jsp|cgi|pl|sh)$", ".", ".php"), ("(?:\\.\\./|%2e%2e/){1,10}", "%", "%2e%2e/"),
        ], ["", "(*NO_JIT)"])
    func hiding(_ expression: (text: String, letter: String, word: String), _ before: String) throws {
        let value = String(repeating: expression.letter, count: 30_000) + expression.word
        #expect(try Self.found(before + expression.text, value))
        #expect(PatternProbe.limit(of: try Pattern(before + expression.text)) == nil)
    }

    @Test("More alternatives than a long text may be tried with are told")
    func manyAlternatives() throws {
        let words = (10..<90).map { "s\($0)" }
        #expect(PatternProbe.limit(of: try Pattern(words.joined(separator: "|"))) != nil)
    }

    @Test(
        "Settings before an expression are no part of it, but groups that look like them are",
        arguments: [
            "(*sr:(q+)+)!", "(*asr:(?:q|qq)+)\\d!", "(*script_run:(q+)+)!", "(*UTF)(*sr:(q+)+)!",
            "(*NO_START_OPT)(*pla:(q+)+!)q",
        ])
    func groupsAreNoSettings(_ text: String) throws {
        #expect(PatternProbe.limit(of: try Pattern(text)) != nil)
    }

    @Test("The words about a limit come once a minute, counted, whoever matched")
    func words() throws {
        let pattern = try Pattern("(a+)+$", written: "(${env.X}+)+$", place: "usher.yaml:3:5")
        let value = [UInt8](repeating: 0x61, count: 64) + [0x21]
        for _ in 0..<3 { #expect(try !Self.found(pattern, value)) }
        #expect(
            pattern.watch.word(now: 1_000)
                == "the pattern ~(${env.X}+)+$ (usher.yaml:3:5) reached its limit of steps 3 times; it was taken not to match"
        )
        #expect(try !Self.found(pattern, value))
        #expect(pattern.watch.word(now: 1_000) == nil)
        #expect(pattern.watch.word(now: 60_999) == nil)
        #expect(pattern.watch.word(now: 61_000)?.contains(" once;") == true)
        #expect(pattern.watch.word(now: 500_000) == nil)
    }

    @Test("An expression that compares without regard to case shares the count of the one that it came from")
    func folded() throws {
        let pattern = try Pattern("(a+)+$")
        let plan = Plan(rules: [
            Rule(
                name: "r", when: .test(.host, [.pattern(pattern)]), request: [SetHeader([Pair("Y", "1")])])
        ])
        let name = String(repeating: "A", count: 60)
        #expect(plan.firstRequestMatch(try request("GET http://\(name).b/"), nil) == nil)
        #expect(pattern.watch.word(now: 0) != nil)
    }

    @Test(
        "What is no expression says why, and where",
        arguments: [
            ("(", "missing closing parenthesis (at character 2)"), ("a**+?{", ""), ("\u{FC}[", ""), ("\\C", ""),
            ("(?<n", ""),
            ("*", "quantifier does not follow a repeatable item (at character 1)"), ("[z-a]", "(at character 4)"),
        ])
    func faults(_ text: String, _ words: String) {
        do {
            _ = try Pattern(text)
            #expect(text == "a**+?{")
        } catch {
            #expect(error.description.contains(words) && error.description.contains("(at character "))
        }
    }

    @Test("What a rewriting makes is bounded")
    func bound() throws {
        let rule = Rule(
            name: "r", request: [RewriteURL(try Pattern("a"), String(repeating: "$0", count: 100))])
        let plan = Plan(rules: [rule])
        var head = try request("GET http://h.test/\(String(repeating: "a", count: 8_000))")
        let outcome = plan.request(&head)
        #expect(outcome.changes == ["r: aborted: the rewritten URL would be longer than 65536 bytes"])
        var small = try request("GET http://h.test/xax")
        #expect(plan.request(&small).verdict == .proceed)
        #expect(small.url == "http://h.test/x\(String(repeating: "a", count: 100))x")
    }

    @Test("A rewriting that finds much takes time by the length of the URL, not by its square")
    func muchFound() throws {
        let plan = Plan(rules: [Rule(name: "r", request: [RewriteURL(try Pattern("a"), "b")])])
        // of this thread alone: other tests run beside it
        func now() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000_000_000 + time.tv_nsec
        }
        func time(_ count: Int) throws -> Int {
            let head = try request("GET http://h.test/\(String(repeating: "a", count: count))")
            var best = Int.max
            for _ in 0..<5 {
                var edited = head
                let start = now()
                _ = plan.request(&edited)
                best = min(best, now() - start)
                #expect(edited.url == "http://h.test/\(String(repeating: "b", count: count))")
            }
            return best
        }
        // as many letters in sixteen parts
        #expect(try time(16_000) < time(1_000) * 16 * 4)
    }

    @Test("A rewriting at its limit leaves the URL as it is")
    func rewriting() throws {
        let pattern = try Pattern("(a+)+$")
        let plan = Plan(rules: [Rule(name: "r", request: [RewriteURL(pattern, "x")])])
        var head = try request("GET http://h.test/\(String(repeating: "a", count: 60))!")
        let before = head.url
        #expect(plan.request(&head).changes == ["r: found nothing to rewrite in the URL"])
        #expect(head.url == before)
        #expect(pattern.watch.word(now: 0) != nil)
    }

    @Test(
        "Empty matches, groups and dollars",
        arguments: [
            ("x*", "-", "http://h.test/b", "-h-t-t-p-:-/-/-h-.-t-e-s-t-/-b-"),
            ("b", "[$0$1$$]", "http://h.test/b", "http://h.test/[b$]"),
            ("/(b)(c)?", "/$1$2$1$x", "http://h.test/b", "http://h.test/bb$x"),
            ("$", "/end", "http://h.test/b", "http://h.test/b/end"),
        ])
    func replacing(_ text: String, _ replacement: String, _ url: String, _ result: String) throws {
        let plan = Plan(rules: [Rule(name: "r", request: [RewriteURL(try Pattern(text), replacement)])])
        var head = try request("GET \(url)")
        let outcome = plan.request(&head)
        // what is no URL ends the exchange; what it was meant to be is the same in both cases
        if outcome.verdict == .proceed { #expect(head.url == result) } else { #expect(!result.hasPrefix("http://")) }
    }
}
