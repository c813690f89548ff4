import Authorization
import Configuration
import Formats
import Interception
import ProxyCore
import Testing

@testable import Operation

@Suite("A configuration to begin with")
struct FirstConfigurationTests {
    private func snapshot(_ text: String, environment: [String: String] = [:]) throws -> Snapshot {
        try ConfigurationLoader.load(
            text: text, file: "usher.yaml", environment: environment,
            readFile: { _ throws(FileFault) in throw .missing }
        ).get()
    }

    @Test func itStandsWithoutAWarning() throws {
        var first = FirstConfiguration()
        for resources in [
            [], ["https://shop.example.com/api/*"], ["https://shop.example.com:8443/x/*", "http://a.test/"],
        ] {
            first.resources = resources
            #expect(first.faults == [] && first.warnings == [], "\(first.text)")
            let snapshot = try snapshot(first.text)
            #expect(snapshot.settings.servers.map(\.url) == ["https://am.example.com/am"])
            #expect(snapshot.settings.authorization.flatMap(\.resources).map(\.url) == resources)
            #expect(snapshot.settings.interception.opens("am.example.com", port: 443))
        }
    }

    /// The text without the `#` of the lines between two comments in words that contain the key.
    private func uncommented(_ text: String, _ keys: [String]) -> String {
        var isOpen = false
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix("#"), !line.contains(/^# [^ ]/) else { return line }
            let rest = line.dropFirst()
            if !rest.hasPrefix(" ") || rest == "  answers:" { isOpen = keys.contains { rest.contains("\($0):") } }
            return isOpen ? rest : line
        }.joined(separator: "\n")
    }

    @Test(
        "A block that is commented out is valid once # is deleted, alone and with the others",
        arguments: [
            ["tls"], ["interceptors"], ["authorization", "answers"],
            ["tls", "interceptors", "authorization", "answers"],
        ])
    func blocks(_ keys: [String]) throws {
        var first = FirstConfiguration()
        first.intercepted = []
        let text = uncommented(first.text, keys)
        let snapshot = try snapshot(text, environment: ["ROBOT_USER": "demo", "ROBOT_PASSWORD": "changeit"])
        #expect(snapshot.settings.rules.map(\.name) == (keys.contains("interceptors") ? ["force-auth"] : []))
        #expect(snapshot.settings.authorization.first?.answers.count == (keys.contains("answers") ? 2 : nil))
        #expect(snapshot.settings.interception.isEmpty == !keys.contains("tls"))
    }

    @Test func answersOfWrittenResourcesStand() throws {
        var first = FirstConfiguration()
        first.resources = ["https://shop.example.com/api/*"]
        let text = uncommented(first.text, ["answers"])
        let snapshot = try snapshot(text, environment: ["ROBOT_USER": "demo", "ROBOT_PASSWORD": "changeit"])
        #expect(snapshot.settings.authorization.first?.answers.count == 2 && snapshot.settings.rules.isEmpty)
    }

    @Test func whatIsNoGoodIsSaid() {
        var first = FirstConfiguration()
        first.server = "am.example.com"
        #expect(first.faults.first?.contains("http or https URL") == true)
        first = FirstConfiguration()
        first.realms = ["alpha"]
        #expect(first.faults.first?.contains("realm") == true)
        first = FirstConfiguration()
        first.server = "https://x/\"\nversion: 2\n\""
        #expect(first.faults.isEmpty == false)
    }

    @Test(arguments: [
        (["https://a.test/x"], ["am.example.com", "a.test"]),
        (["https://a.test:8443/*", "https://a.test/*"], ["am.example.com", "a.test"]),
        (["http://a.test/*"], ["am.example.com"]), (["https://*.a.test/*"], ["am.example.com", "*.a.test"]),
    ])
    func hosts(_ resources: [String], _ expected: [String]) {
        var first = FirstConfiguration()
        first.resources = resources
        #expect(first.hosts == expected)
    }

    // MARK: HAR

    private func entry(
        _ method: String, _ url: String, headers: String = "", body: String? = nil, status: Int = 200,
        answer: String = "", fields: String = ""
    ) -> String {
        let post = body.map { ",\"postData\":{\"text\":\(JSONValue.string($0).serialized)}" } ?? ""
        return """
            {"request":{"method":"\(method)","url":"\(url)","headers":[\(headers)]\(post)},
             "response":{"status":\(status),"headers":[\(fields)],"content":{"text":\(JSONValue.string(answer).serialized)}}}
            """
    }

    private func har(_ entries: [String]) -> [UInt8] {
        Array("{\"log\":{\"version\":\"1.2\",\"entries\":[\(entries.joined(separator: ","))]}}".utf8)
    }

    private static let json = "{\"name\":\"Content-Type\",\"value\":\"application/json\"}"

    @Test func whatARecordingShows() throws {
        let authenticate = "https://sso.acme.test/openam/json/realms/root/realms/staff/authenticate"
        let callbacks =
            "{\"authId\":\"a\",\"callbacks\":[{\"type\":\"NameCallback\",\"input\":[{}]},{\"type\":\"TextOutputCallback\"},"
            + "{\"type\":\"ChoiceCallback\",\"input\":[{}]}]}"
        let first = try FirstConfiguration(
            har: har([
                entry("GET", "https://cdn.test/app.js#x"), entry("GET", "wss://cdn.test/socket"),
                entry(
                    "POST", "\(authenticate)?authIndexType=service&authIndexValue=Staff", headers: Self.json,
                    body: "{}",
                    answer: callbacks),
                entry(
                    "POST", authenticate, headers: Self.json, body: "{\"authId\":\"a\"}",
                    answer: "{\"tokenId\":\"T0K3N\"}",
                    fields: "{\"name\":\"Set-Cookie\",\"value\":\"lb=1; Path=/\\nacmeSession=T0K3N; Path=/\"}"),
                entry(
                    "GET", "https://shop.acme.test/api/pay/1?x=1", status: 401,
                    fields: "{\"name\":\"WWW-Authenticate\",\"value\":\"SSOADVICE realm=x\"}"),
                entry("GET", "https://shop.acme.test/api/pay/deep/2?_txid=1"),
                entry("GET", "https://open.test/", headers: "{\"name\":\"Cookie\",\"value\":\"acmeSession=T0K3N\"}"),
            ]))
        #expect(first.server == "https://sso.acme.test/openam" && first.realms == ["/staff"])
        #expect(first.tree == "Staff" && first.cookie == "acmeSession")
        #expect(first.callbacks == ["NameCallback", "ChoiceCallback"])
        #expect(first.resources == ["https://shop.acme.test/api/pay/*"])
        #expect(!first.text.contains("T0K3N") && first.faults == [] && first.warnings == [])
    }

    @Test func whoCarriesTheSessionIsProposedWhereNothingAsksForMore() throws {
        let cookie = "{\"name\":\"Cookie\",\"value\":\"a=1; s=2\"}"
        let first = try FirstConfiguration(
            har: har([
                entry("GET", "http://am.test/am/json/serverinfo/*", answer: "{\"cookieName\":\"s\"}"),
                entry("GET", "http://shop.test/a/b", headers: cookie), entry("GET", "http://other.test/"),
                entry("GET", "http://own.test/", headers: "{\"name\":\"Cookie\",\"value\":\"as=2; b=s=1\"}"),
            ]))
        #expect(first.server == "http://am.test/am" && first.cookie == "s" && first.realms == ["/"])
        #expect(first.resources == ["http://shop.test/a/*"])
    }

    @Test(arguments: ["", "{}", "{\"log\":{\"entries\":[]}}", "[1]", "{\"log\":{\"entries\":[1,{}]}}"])
    func nothingIsShown(_ text: String) {
        #expect(throws: FirstConfiguration.Fault.self) { try FirstConfiguration(har: Array(text.utf8)) }
    }
}
