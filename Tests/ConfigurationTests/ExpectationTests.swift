import Configuration
import Expectations
import Interception
import Testing

/// Expectations as the configuration, a request and a command line write them.
@Suite struct ExpectationTests {
    private func told(_ read: Result<[Expectations.Expectation], ConfigurationFaults>) -> [String] {
        switch read {
        case .success(let expectations): expectations.map(\.words)
        case .failure(let faults): faults.diagnostics.map(\.description)
        }
    }

    private func words(_ lines: String...) -> [String] { told(ExpectationReader().expectations(in: lines)) }

    @Test("A line says the same as an entry of the configuration")
    func lines() {
        #expect(words("action=LOGOUT count=1") == ["action LOGOUT: 1"])
        #expect(words("host=api.* status=5xx count=never") == ["host api.* and status 5xx: never"])
        #expect(words("path=/a,/b count>=2") == ["path /a or /b: at least 2"])
        #expect(words("path=/a count<=2 within=2s") == ["path /a: at most 2, within 2000 ms"])
        #expect(words("path=/a each.scheme=https") == ["path /a: any number, each scheme https"])
        #expect(words("method!=GET") == ["not ((method GET)): at least 1"])
        #expect(words("method!=GET path!=/a") == ["not ((method GET or path /a)): at least 1"])
        #expect(words("header.a=* header.b=* json./x=1") == ["header a and header b and json /x: at least 1"])
        #expect(words("path=/a step_up=true count=1") == ["path /a: 1, each by a step-up"])
        #expect(words("action=LOGOUT per=journey") == ["action LOGOUT: at least 1, in each journey"])
    }

    @Test("before and after name another expectation or an Action")
    func anchors() {
        #expect(
            words("name=a path=/a", "path=/b after=a", "path=/c before=LOGOUT").dropFirst() == [
                "path /b: at least 1, after a", "path /c: at least 1, before LOGOUT",
            ])
        #expect(words("path=/b after=JOURNEY_TERMINATE") == ["path /b: at least 1, after JOURNEY_TERMINATE"])
        let other = Expectations.Expectation(name: "a", words: "", test: .messages(MessageTest(.always, count: 1...1)))
        let reader = ExpectationReader(beside: [other])
        #expect(told(reader.expectations(in: ["path=/b after=a"])) == ["path /b: at least 1, after a"])
    }

    @Test("A text is an entry, a list, or a configuration's expect; in YAML or JSON")
    func texts() {
        func read(_ text: String) -> [String] { told(ExpectationReader().expectations(in: text, file: "a.yaml")) }
        #expect(read("when: { path: /a }") == ["path /a: at least 1"])
        #expect(read("- { when: { path: /a } }\n- { use: am-client }").count == 1 + RulePack.all[1].rules.count)
        #expect(read(#"{"expect":[{"when":{"path":"/a"},"count":2}]}"#) == ["path /a: 2"])
        #expect(read("") == ["a.yaml:1:1: error: there is no expectation"])
        #expect(
            read("wehn: { path: /a }") == [
                "a.yaml:1:1: error: unknown key \"wehn\" in expect; did you mean \"when\"?"
            ])
    }

    @Test(
        "A line that is wrong names its place",
        arguments: [
            ("path", "expectation:1:1: error: \"path\" is not a term; write key=value, as in action=LOGOUT"),
            ("path=/a host=", "expectation:1:9: error: host has no value; * asks for any"),
            ("=/a", "expectation:1:1: error: \"=/a\" is not a term; write key=value, as in action=LOGOUT"),
        ])
    func faults(_ line: String, _ said: String) { #expect(words(line) == [said]) }
}
