import Addresses
import Configuration
import Passwords
import ProxyCore
import Testing

@Suite struct ClientTests {
    static let hash = "$2y$10$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y"

    private func file(_ text: String) -> [String: FileContent] { ["users": FileContent(bytes: Array(text.utf8))] }

    @Test func passwordsOpenTheProxyBeyondLoopback() throws {
        let text = """
            version: 1
            clients: { allow: [loopback, 10.0.0.0/8], basic: { users: "${file:users}" } }
            """
        let snapshot = try snapshot(text, files: file("alice:\(Self.hash)\n"))
        #expect(snapshot.settings.users?.count == 1 && snapshot.warnings.isEmpty)
        #expect(snapshot.clients.admits(try #require(IPAddress("10.1.2.3"))))
        let cheap = "alice:\(Self.hash.replacing("$10$", with: "$05$"))"
        #expect(
            diagnosis(text, files: file(cheap)).contains(
                "warning: clients.basic.users has a password hashed at cost 5"))
        let open = ["users": FileContent(bytes: Array("alice:\(Self.hash)".utf8), isWorldReadable: true)]
        #expect(diagnosis(text, files: open).contains("chmod o-r users"))
    }

    @Test(arguments: [
        ("loopback", true), ("127.0.0.1", true), ("127.0.0.0/8", true), ("::1", true), ("::ffff:127.0.0.1", true),
        ("127.0.0.0/7", false), ("126.0.0.0/7", false), ("0.0.0.0/0", false), ("::/0", false), ("::/127", false),
        ("192.0.2.1", false),
    ])
    func loopbackAloneNeedsNone(_ entry: String, _ isLoopback: Bool) {
        let found = diagnosis("version: 1\nclients: { allow: \"\(entry)\" }")
        #expect(found.isEmpty == isLoopback, "\(found)")
    }

    @Test func balancersForwardedAndPorts() throws {
        let snapshot = try snapshot(
            """
            version: 1
            forwarded: x-forwarded-for
            clients: { proxy_protocol: [192.0.2.0/24, loopback] }
            destinations: { connect_ports: [443, 8443] }
            """)
        #expect(snapshot.clients.isBalancer(try #require(IPAddress("192.0.2.7"))))
        #expect(snapshot.clients.isBalancer(try #require(IPAddress("::1"))))
        #expect(!snapshot.clients.isBalancer(try #require(IPAddress("192.0.3.1"))))
        #expect(snapshot.clients.allow == ClientPolicy().allow)
        #expect(
            snapshot.settings.disclosure.forwarded == .xForwardedFor
                && snapshot.settings.routes.connectPorts == [443, 8443])
        let plain = try self.snapshot("version: 1\n")
        #expect(
            plain.settings.disclosure.forwarded == .none && plain.settings.routes.connectPorts == nil
                && plain.settings.users == nil)
        #expect(
            try self.snapshot("version: 1\ndestinations: { connect_ports: 443 }").settings.routes.connectPorts == [443])
    }

    private func snapshot(_ text: String, files: [String: FileContent] = [:]) throws -> Snapshot {
        try ConfigurationTests.snapshot(text, files: files)
    }
}
