import Expectations
import Formats
import Foundation
import Interception
import Journal
import Testing

/// Each rule of a pack with traffic that keeps it, and traffic that breaks it.
struct PackTests {
    /// A rule, traffic that it judges as good, and traffic that breaks it.
    struct Case: Sendable, CustomTestStringConvertible {
        let rule: String
        let good: [Flow]
        let bad: [Flow]
        var verdict = ExpectationReport.Verdict.unmet

        var testDescription: String { rule }
    }

    static func entry(_ rule: String, _ flows: [Flow]) throws -> ExpectationReport.Entry {
        let found = RulePack.all.flatMap(\.rules).filter { $0.name == rule }
        #expect(found.count == 1)
        var ledger = ExpectationLedger(found)
        for flow in flows { ledger.observe(flow.packed) }
        return try #require(ledger.report().entries.first)
    }

    @Test("A rule is kept by good traffic and broken by bad traffic", arguments: cases)
    func rule(_ one: Case) throws {
        let good = try Self.entry(one.rule, one.good)
        #expect(good.verdict == .met, "\(good.because)")
        let bad = try Self.entry(one.rule, one.bad)
        #expect(bad.verdict == one.verdict)
        #expect(!bad.because.isEmpty && !bad.failures.isEmpty)
    }

    @Test("Every rule has a case, and every name stands once")
    func complete() {
        let names = RulePack.all.flatMap { $0.rules.map(\.name) }
        #expect(Set(names) == Set(Self.cases.map(\.rule)))
        #expect(Set(names).count == names.count)
    }

    @Test("The page names every rule and its source")
    func page() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/testing.md"), encoding: .utf8)
        for rule in RulePack.all.flatMap(\.rules) {
            let line = page.split(separator: "\n").first { $0.hasPrefix("| `\(rule.name)`: ") }
            #expect(line != nil, "\(rule.name)")
        }
    }

    static let cases = oauth + am + sdk

    // MARK: OAuth

    private static let challenge = "response_type=code&code_challenge=abc&code_challenge_method=S256"
    private static let callback = "redirect_uri=https%3A%2F%2Fapp.test%2Fcb"

    private static let oauth = [
        Case(
            rule: "pkce", good: [.authorize(challenge), .authorize("request_uri=code%239&response_type=code")],
            bad: [.authorize("response_type=code&code_challenge=abc&code_challenge_method=plain")]),
        Case(
            rule: "state",
            good: [
                .authorize("response_type=code&state=code#1", id: 1),
                .authorize(
                    "response_type=code&state=code#1", id: 2, to: "https://app.test/cb?code=code#2&state=code#1"),
                .authorize("response_type=code&state=code#3", id: 3),
            ],
            bad: [
                .authorize(
                    "response_type=code&state=code#1", id: 1, to: "https://app.test/cb?code=code#2&state=code#1"),
                .authorize("response_type=code&state=code#1", id: 2),
            ]),
        Case(
            rule: "nonce",
            good: [
                .authorize("response_type=code", id: 1),
                .authorize("response_type=code&nonce=code#1", id: 2, to: "https://app.test/cb?code=code#2"),
                .authorize("response_type=code+id_token&nonce=code#2", id: 3),
            ],
            bad: [.authorize("response_type=code+id_token")]),
        Case(
            rule: "no-implicit", good: [.authorize(challenge), .authorize("response_type=code+id_token")],
            bad: [.authorize("response_type=id_token+token")]),
        Case(
            rule: "no-secret-in-url", good: [.authorize(challenge), Flow(target: "/cb?code=code#1")],
            bad: [Flow(host: "api.test", target: "/a?access_token=token#1")]),
        Case(
            rule: "no-secret-in-referer", good: [Flow(request: ["Referer: https://app.test/a?page=1"])],
            bad: [Flow(request: ["Referer: https://app.test/cb?code=code#1&state=code#2"])]),
        Case(
            rule: "redirect-uri",
            good: [
                .authorize(callback, id: 1, to: "https://app.test/cb?code=code#1"),
                .token(.exchangeToken, "code=code#1&\(callback)", id: 2),
            ],
            bad: [
                .authorize(callback, id: 1, to: "https://app.test/cb?code=code#1"),
                .token(.exchangeToken, "code=code#1&redirect_uri=https%3A%2F%2Fapp.test%2Fcb%2F", id: 2),
            ]),
        Case(
            rule: "code-once",
            good: [.token(.exchangeToken, "code=code#1", id: 1), .token(.exchangeToken, "code=code#2", id: 2)],
            bad: [.token(.exchangeToken, "code=code#1", id: 1), .token(.exchangeToken, "code=code#1", id: 2)]),
        Case(
            rule: "no-password-grant", good: [.token(.exchangeToken, "grant_type=authorization_code")],
            bad: [
                Flow(
                    method: "POST", target: "/am/oauth2/access_token", request: [Flow.form],
                    body: "grant_type=password&username=demo")
            ]),
        Case(
            rule: "refresh-rotation",
            good: [
                .token(.refreshToken, "refresh_token=token#1", #"{"refresh_token":"token#2"}"#, id: 1),
                .token(.refreshToken, "refresh_token=token#2", #"{"refresh_token":"token#3"}"#, id: 2),
                .token(.refreshToken, "refresh_token=token#3&client_secret=password#1", "{}", id: 3),
            ],
            bad: [.token(.refreshToken, "refresh_token=token#1", #"{"access_token":"token#2"}"#, id: 1)]),
        Case(
            rule: "tls", good: [.authorize(challenge), Flow(scheme: 1, host: "127.0.0.1", action: .logout)],
            bad: [Flow(scheme: 1, host: "api.test", request: ["Authorization: Bearer token#1"])]),
    ]

    // MARK: AM

    private static func asks(_ type: String, _ id: Int, _ output: String = "") -> String {
        #"{"authId":"authId#\#(id)","callbacks":[\#(callback(type, "", output))]}"#
    }

    private static func answers(_ type: String, _ id: Int, _ value: String) -> String {
        #"{"authId":"authId#\#(id)","callbacks":[\#(callback(type, value))]}"#
    }

    private static func callback(_ type: String, _ value: String, _ output: String = "") -> String {
        #"{"type":"\#(type)","output":[\#(output)],"input":[{"name":"IDToken1","value":"\#(value)"}]}"#
    }

    private static func login(_ answer: String) -> [Flow] {
        [
            .step(1, gets: asks("NameCallback", 1)),
            .step(2, at: 20, sends: answers("NameCallback", 1, answer), gets: #"{"tokenId":"session#1"}"#),
        ]
    }

    private static func logout(_ id: Int, at: Int) -> Flow {
        Flow(
            id: id, at: at, method: "POST", target: "/json/sessions?_action=logout", action: .logout,
            request: ["iPlanetDirectoryPro: session#1", "Accept-API-Version: resource=3.1"])
    }

    private static let grant: [Flow] = [
        .authorize(
            challenge, id: 1, to: "https://app.test/cb?code=code#1", request: ["iPlanetDirectoryPro: session#1"]),
        .token(.exchangeToken, "code=code#1", #"{"access_token":"token#1","refresh_token":"token#2"}"#, id: 2, at: 20),
    ]

    private static let am = [
        Case(
            rule: "authid-once",
            good: [
                .step(1, sends: answers("NameCallback", 1, "a"), gets: asks("NameCallback", 2)),
                .step(2, sends: answers("NameCallback", 2, "a"), gets: asks("NameCallback", 2)),
                .step(3, sends: answers("NameCallback", 2, "b"), gets: "{}"),
            ],
            bad: [
                .step(1, sends: answers("NameCallback", 1, "a"), gets: asks("NameCallback", 2)),
                .step(2, sends: answers("NameCallback", 1, "a"), gets: "{}"),
            ]),
        Case(
            rule: "accept-api-version",
            good: [.step(1, gets: "{}", request: ["Accept-API-Version: protocol=1.0,resource=2.1"]), logout(2, at: 9)],
            bad: [.step(1, gets: "{}")]),
        Case(rule: "callbacks-answered", good: login("demo"), bad: login("")),
        Case(
            rule: "callbacks-answered", good: login("demo"),
            bad: login("demo") + [.step(3, at: 40, gets: asks("DeviceProfileCallback", 5))], verdict: .pending),
        Case(
            rule: "logout-ends-session",
            good: [
                Flow(id: 1, request: ["Cookie: iPlanetDirectoryPro=session#1"]), logout(2, at: 20),
                Flow(id: 3, at: 40, request: ["Cookie: iPlanetDirectoryPro=session#2"]),
            ],
            bad: [
                logout(2, at: 20),
                Flow(id: 3, at: 40, host: "api.test", request: ["Cookie: iPlanetDirectoryPro=session#1"]),
            ]),
        Case(
            rule: "logout-revokes-tokens",
            good: grant + [logout(3, at: 40), .token(.revokeToken, "token=token#2", id: 4, at: 40)],
            bad: grant + [logout(3, at: 40)], verdict: .pending),
        Case(
            rule: "transaction-once",
            good: [
                Flow(id: 1, target: "/a?_txid=transaction#1", status: 401),
                Flow(id: 2, target: "/a?_txid=transaction#1"), Flow(id: 3, target: "/a?_txid=transaction#2"),
            ],
            bad: [
                Flow(id: 1, request: ["X-TxID: transaction#1"]), Flow(id: 2, request: ["X-TxID: transaction#1"]),
            ]),
    ]

    // MARK: SDKs

    private static let polling = #"{"name":"waitTime","value":"1000"}"#

    private static func poll(after: Int) -> [Flow] {
        [
            .step(1, gets: asks("PollingWaitCallback", 1, polling)),
            .step(2, at: 10 + after, sends: answers("PollingWaitCallback", 1, ""), gets: "{}"),
        ]
    }

    private static let sdk = [
        Case(
            rule: "requested-with", good: [.step(1, gets: "{}", request: ["X-Requested-With: ping-sdk"])],
            bad: [.step(1, gets: "{}")]),
        Case(
            rule: "json-steps", good: login("demo"),
            bad: [Flow(method: "POST", action: .authenticate, request: ["Content-Type: text/plain"], body: "{}")]),
        Case(
            rule: "callbacks-returned", good: login("demo"),
            bad: [
                .step(1, gets: asks("NameCallback", 1)),
                .step(2, sends: #"{"authId":"authId#1","callbacks":[]}"#, gets: "{}"),
            ]),
        Case(rule: "polling-wait", good: poll(after: 1000), bad: poll(after: 200)),
        Case(
            rule: "single-refresh",
            good: [
                .token(.refreshToken, "refresh_token=token#1", id: 1),
                .token(.refreshToken, "refresh_token=token#1", id: 2, at: 20),
            ],
            bad: [
                .token(.refreshToken, "refresh_token=token#1", id: 1),
                .token(.refreshToken, "refresh_token=token#1", id: 2, at: 5),
            ]),
        Case(
            rule: "bearer", good: [Flow(action: .userInfo, request: ["Authorization: Bearer token#1"])],
            bad: [Flow(action: .userInfo)]),
        Case(
            rule: "id-token-hint",
            good: [Flow(target: "/oauth2/connect/endSession?id_token_hint=token#1", action: .endSession)],
            bad: [Flow(target: "/oauth2/connect/endSession", action: .endSession)]),
    ]
}
