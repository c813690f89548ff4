import Authorization
import HTTPCodec
import Interception
import Testing

@Suite("Where calls to AM may go")
struct ServerCallTests {
    private func refusal(
        _ url: String, of server: String = "https://am.test/am", host: String? = nil,
        _ change: (inout AuthorizationServer) -> Void = { _ in }
    ) throws -> String? {
        var server = AuthorizationServer(url: server, host: "am.test")
        change(&server)
        var head = try RequestHead(method: "POST", url: url)
        if let host { head.fields.set("Host", host) }
        return server.refusal(of: head)
    }

    @Test(arguments: [
        "https://am.test/am/json/authenticate", "https://AM.test:443/am/json", "https://am.test/am",
        "https://am.test/am/json/realms/root%2Frealms%2Falpha/authenticate?x=../..", "https://am.test/am/a..b/...",
        "https://am.test/am/./x", "https://am.test/am/json/realms/root/realms/caf%C3%A9%25/authenticate",
    ])
    func underTheServer(_ url: String) throws {
        #expect(try refusal(url) == nil)
    }

    @Test(arguments: [
        "http://am.test/am/json", "http://am.test:443/am/json", "https://am.test:8443/am/json",
        "https://evil.test/am/json", "https://am.test.evil.test/am/json", "https://xam.test/am/json",
    ])
    func elsewhere(_ url: String) throws {
        #expect(try refusal(url)?.hasSuffix(", which is not the configured AM") == true)
    }

    @Test(arguments: [
        "/", "", "/a", "/amx", "/AM/json", "/am/..", "/am/../x", "/am/%2e%2E/x", "/am/%2e./x", "/am/..%2fx",
        "/am/..%5cx", "/am/..;a=b/x", "/am/%252e%252e/x", "/am/%25252525252e/x", "/%61m/x", "//am/x",
    ])
    func besideTheContext(_ path: String) throws {
        #expect(try refusal("https://am.test\(path)")?.contains("not under https://am.test/am") == true)
    }

    @Test func aServerThatHasTheWholeHost() throws {
        for url in ["https://am.test", "https://am.test/"] {
            #expect(try refusal("https://am.test/json/authenticate", of: url) == nil)
            #expect(try refusal("https://am.test/x/../json", of: url) == nil)
        }
    }

    @Test func anEndpointThatIsConfiguredElsewhere() throws {
        #expect(try refusal("https://am.test/login") != nil)
        #expect(try refusal("https://am.test/login") { $0.paths[.authenticate] = "/login" } == nil)
        #expect(try refusal("https://am.test/login/x") { $0.paths[.authenticate] = "/login" } != nil)
    }

    @Test func theHostField() throws {
        let url = "https://am.test/am/json"
        for host in ["am.test", "AM.test", "am.test:443"] { #expect(try refusal(url, host: host) == nil) }
        for host in ["evil.test", "am.test:80", "am.test.evil", "user@am.test", ""] {
            #expect(try refusal(url, host: host)?.contains("in Host") == true, "\(host)")
        }
    }
}
