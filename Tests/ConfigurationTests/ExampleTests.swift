import Authorization
import Configuration
import Foundation
import Interception
import Passwords
import ProxyCore
import TLSEngine
import Testing

/// The configurations that come with Usher stand.
@Suite struct ExampleTests {
    private static let folder = testFolder.deletingLastPathComponent().deletingLastPathComponent().appending(
        path: "config")

    private func load(_ name: String) throws -> Snapshot {
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        return try snapshot(
            text,
            environment: [
                "ROBOT_USER": "demo", "ROBOT_PASSWORD": "changeit", "REPLICATION_TOKEN": "replication-token",
            ])
    }

    @Test func theStandardConfigurationIsThePlainProxy() throws {
        let standard = try load("usher.yaml")
        let plain = try snapshot("version: 1")
        #expect("\(standard.settings)" == "\(plain.settings)" && standard.listeners == plain.listeners)
        #expect(standard.warnings.isEmpty)
    }

    /// What is commented out in the standard configuration as a default is one, and its examples are right.
    @Test func theCommentedOutLinesStand() throws {
        let text = try String(contentsOf: Self.folder.appending(path: "usher.yaml"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> Substring in
            // the first line is for editors
            let rest = line.hasPrefix("# ") && !line.hasPrefix("# yaml-language-server:") ? line.dropFirst(2) : ""
            let isKey = rest.first == " " || rest.first == "-" || rest.prefix { $0.isLowercase || $0 == "_" }.count > 1
            return isKey && (rest.contains(": ") || rest.hasSuffix(":")) && !rest.contains("example:") ? rest : ""
        }
        let environment = ["CREDENTIALS_DIRECTORY": "/c"]
        let secret = FileContent(bytes: Array("x".utf8))
        let seed = FileContent(bytes: Array("JBSWY3DPEHPK3PXP".utf8))
        let material = try Material()
        let (certificate, key) = try material.leaf("app.test")
        let users = FileContent(
            bytes: Array("alice:$2y$10$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y\n".utf8))
        let snapshot = try snapshot(
            "version: 1\n" + lines.joined(separator: "\n"), environment: environment,
            files: [
                "/c/robot-user": secret, "/c/robot-pass": secret, "/c/robot-totp": seed, "/c/iam-key": secret,
                "/c/batch-secret": secret, "/c/admin-token": FileContent(bytes: Array("0123456789abcdef\n".utf8)),
                "/c/usher-agent": secret, "users.htpasswd": users,
                "proxy.pem": certificate, "/c/proxy-key": key, "app.pem": certificate, "/c/app-key": key,
            ], now: Material.now)
        let plain = try ConfigurationTests.snapshot("version: 1")
        #expect("\(snapshot.settings.limits)" == "\(plain.settings.limits)")
        #expect("\(snapshot.settings.timeouts)" == "\(plain.settings.timeouts)")
        #expect(snapshot.destinations == plain.destinations && snapshot.log == plain.log)
        #expect(snapshot.clients == plain.clients && snapshot.settings.users?.count == 1)
        #expect(
            snapshot.settings.routes.connectPorts == [443, 8443] && snapshot.settings.disclosure.forwarded == .none)
        #expect(snapshot.tls.interception.isEmpty && snapshot.tls.interception.onRefusal == .fail)
        #expect(!snapshot.tls.keyLog && snapshot.tls.listener != nil && snapshot.tls.authority.constraints != nil)
        #expect(snapshot.tls.origins.usesSystemTrust && snapshot.tls.origins.minimum == .tls12)
        #expect(snapshot.tls.origins.rules.count == 2 && snapshot.tls.origins.identities.count == 1)
        #expect(
            snapshot.settings.rules.map(\.name) == [
                "force-auth", "amount", "busy", "slow", "chaos", "gentle", "robot", "staff", "forms", "vendor",
                "too-many", "patience", "trace", "agent", "locked", "odd", "turned-away", "metrics", "couch",
                "cloudant",
            ])
        #expect(snapshot.settings.authorization.count == 1)
    }

    @Test func android() throws {
        let rules = try opened("android", "example.com").settings.rules
        #expect(rules.map { words($0.when) } == [#"test(action,exact "START_AUTHENTICATE")"#, "always"])
        #expect(
            rules.flatMap(\.request).map(words) == [
                "addQuery ForceAuth=true", "addHeader Accept-Language=en-GB",
                "setCookie member=gold; example.com; secure; httpOnly",
            ])
    }

    @Test func ios() throws {
        let rules = try opened("ios", "am.example.com").settings.rules
        #expect(
            Set(rules.map { words($0.when) }) == [#"test(action,exact "START_AUTHENTICATE",exact "AUTHENTICATE")"#])
        #expect(
            rules.flatMap(\.request).map(words) == [
                "setQuery ForceAuth=true", "setHeader Accept-Language=en-GB", "setHeader Cookie=member=gold; level=2",
            ])
    }

    @Test func javascript() throws {
        let rules = try opened("javascript", "am.example.com").settings.rules
        #expect(Set(rules.map { words($0.when) }) == [#"test(action,exact "START_AUTHENTICATE")"#])
        #expect(
            rules.flatMap(\.request).map(words) == ["setQuery ForceAuth=true", "addHeader Accept-Language=en-GB"])
    }

    /// An example that opens the TLS of its AM, with a CA that speaks for one domain alone.
    private func opened(_ name: String, _ domain: String) throws -> Snapshot {
        let snapshot = try load("examples/\(name).yaml")
        #expect(snapshot.warnings.isEmpty)
        #expect(snapshot.settings.interception.opens("am.example.com", port: 443))
        #expect(snapshot.tls.authority.constraints?.entries == [domain])
        return snapshot
    }

    @Test func transactional() throws {
        let snapshot = try load("examples/transactional.yaml")
        let policy = try #require(snapshot.settings.authorization.first)
        #expect(policy.server.url == "http://am.localhost:9080/am")
        #expect(policy.resources.map(\.url) == ["http://shop.localhost:9080/shop/*"])
        #expect(policy.answers.map(\.response) == [.value("demo"), .value("changeit")])
        #expect(snapshot.warnings.isEmpty)
    }

    /// Each of a platform's guide: at the one AM, with the resource that the guide protects.
    @Test(arguments: [
        ("android", "https://api.example.com/*"), ("ios", "https://protected.example.com/*"),
        ("javascript", "https://resource.example.com/withdraw"),
    ])
    func transactions(_ platform: String, _ resource: String) throws {
        let snapshot = try load("examples/\(platform)-transactional.yaml")
        let policy = try #require(snapshot.settings.authorization.first)
        #expect(policy.server.url == "https://am.example.com/am" && policy.server.realms == ["/alpha"])
        #expect(policy.resources.first?.url == resource)
        #expect(policy.answers.map(\.response) == [.value("demo"), .value("changeit")])
        #expect(snapshot.tls.authority.constraints?.entries == ["example.com"])
        #expect(snapshot.warnings.isEmpty)
    }

    @Test func cdtDatastore() throws {
        let snapshot = try load("examples/cdtdatastore.yaml")
        #expect(
            snapshot.settings.rules.map(\.name) == [
                "sample", "nothing-is-deleted", "no-half-made-documents", "too-many-requests",
            ])
        #expect(snapshot.settings.rules.allSatisfy { words($0.when).contains(#"exact "username.cloudant.com""#) })
        #expect(snapshot.warnings.isEmpty)
    }

    @Test func everyExampleIsTested() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: "examples").path)
        #expect(
            // the folder of pipelines is tested end to end
            files.filter { $0.hasSuffix(".yaml") }.sorted() == [
                "android-transactional.yaml", "android.yaml", "cdtdatastore.yaml", "ios-transactional.yaml", "ios.yaml",
                "javascript-transactional.yaml", "javascript.yaml", "transactional.yaml",
            ])
        for file in files where file.hasSuffix(".yaml") { _ = try load("examples/\(file)") }
    }
}
