import Configuration
import Interception
import ProxyCore
import Testing

@Suite struct EnvironmentTests {
    private static let environments = """
        version: 1
        environments:
          - { hosts: ["*.staging.example.com"], label: staging, rate: 50/s }
          - { hosts: ["*.Example.com", 192.0.2.7], label: production, allow: [observe] }

        """

    @Test func theFirstEntryOfAHostCounts() throws {
        let found = try snapshot(Self.environments).settings.environments
        #expect(found.environment(of: "shop.staging.example.com")?.label == "staging")
        #expect(found.environment(of: "SHOP.example.com.")?.label == "production")
        #expect(found.environment(of: "192.0.2.7")?.label == "production")
        #expect(found.environment(of: "example.org") == nil)
        #expect(
            found.refusal(of: [.mock, .fault], at: "staging.example.com")
                == "environment production does not allow mock and fault")
        #expect(found.refusal(of: .all, at: "shop.staging.example.com") == nil)
        #expect(found.refusal(of: .observe, at: "shop.example.com") == nil)
    }

    @Test(arguments: [
        ("shop.example.com", true), ("shop.staging.example.com", false), ("*.shop.example.com", true),
        ("*.example.com", false), ("*", false), ("other.test", false),
    ])
    func anInterceptorThatCanOnlyApplyWhereItIsRefusedIsAnError(host: String, isRefused: Bool) {
        let found = diagnosis(
            Self.environments + """
                interceptors:
                  - { name: late, when: { host: "\(host)" }, request: [{ delay: 1s }] }
                  - { name: look, when: { host: "\(host)" }, request: [{ log: seen }] }
                """)
        let words =
            "usher.yaml:6:27: error: environment production does not allow fault, and this interceptor can apply nowhere else; name other hosts in \"when\"\n"
        #expect(found == (isRefused ? words : ""))
    }

    @Test func signInsThatTheEnvironmentRefusesAreErrors() {
        let found = diagnosis(
            Self.environments + """
                am: [{ url: "https://am.example.com/am" }]
                tls: { intercept: ["*.example.com"], ca: { constrain_to: [example.com] } }
                authorization:
                  am: https://am.example.com/am
                  resources: ["https://shop.example.com/*", "https://shop.staging.example.com/*"]
                  answers: [{ callback: NameCallback, value: robot }]
                """)
        #expect(
            found.split(separator: "\n").map(String.init) == [
                "usher.yaml:7:1: error: environment production does not allow step_up, and Usher would sign in at "
                    + "https://am.example.com/am; use another AM",
                "usher.yaml:9:15: error: environment production does not allow step_up, and all of this resource is there; "
                    + "remove it",
            ])
    }

    @Test func entriesThatMeanNothing() {
        let found = diagnosis(
            """
            version: 1
            environments:
              - { hosts: "*.test", label: a }
              - { hosts: [x.test, y.example], label: a, allow: [mocks], rate: 5 }
              - { hosts: [], label: b }
              - { label: c }
            """)
        #expect(
            found.split(separator: "\n").map { $0.prefix(88) } == [
                "usher.yaml:4:15: warning: \"x.test\" is never reached: environment a comes first and match",
                "usher.yaml:4:42: error: the label \"a\" is already in line 3; merge the two entries",
                "usher.yaml:4:53: error: environments[1].allow[0] takes one of observe, edit, mock, fault",
                "usher.yaml:4:67: error: environments[1].rate takes a rate such as 10/s, 100/m or 1000/h,",
                "usher.yaml:5:14: error: hosts takes at least one host or host glob",
                "usher.yaml:6:5: error: environments[3] lacks the key \"hosts\"",
            ], "\(found)")
    }

    // MARK: guard

    @Test(arguments: [
        ("{ only: [a.test] }", "a.test", true), ("{ only: [a.test] }", "b.test", false),
        ("{ only: [a.test], unknown: pass }", "b.test", true), ("{ never: [a.test] }", "b.test", true),
        ("{ never: [a.test] }", "a.test", false), ("{ never: [a.test], unknown: refuse }", "b.test", false),
        ("{ only: [\"*.a.test\"], never: [\"*.test\"] }", "x.a.test", true),
        ("{ only: [a.test], never: [a.test] }", "a.test", false),
    ])
    func guardJudgesHosts(written: String, host: String, isPermitted: Bool) throws {
        let policy = try snapshot("version: 1\nguard: \(written)\ndestinations: { allow: [\"*\", a.test, b.test] }")
            .destinations
        let guarding = try #require(policy.others.first)
        #expect(guarding.permits(host: host, port: 443).isPermitted == isPermitted)
    }

    @Test func aGuardThatCannotWorkIsAnError() {
        #expect(
            diagnosis("version: 1\nguard: { only: [a.test] }\nam: [{ url: \"https://am.test/am\" }]")
                == "usher.yaml:3:1: error: Usher may not reach https://am.test/am: no entry of guard.only fits; add am.test to guard.only\n"
        )
        #expect(
            diagnosis("version: 1\nguard: { only: [] }")
                == "usher.yaml:2:16: error: guard.only takes at least one host; remove the key to permit every host\n")
        #expect(
            diagnosis("version: 1\nguard: {}")
                == "usher.yaml:2:8: warning: this has no effect; add only: [HOST] or never: [HOST]\n")
    }
}
