import Configuration
import Foundation
import ProxyCore
import TLSEngine
import Testing

@testable import Operation

@Suite("What programs are told")
struct ProxyVariablesTests {
    private let folder: TemporaryFolder
    private let bundle: TrustBundle
    private let authority: AuthorityCertificates

    init() throws {
        folder = try TemporaryFolder()
        let state = StateDirectory(path: folder.path)
        authority = try AuthorityStore(AuthoritySettings(), in: state).certificatesOrMake().certificates
        bundle = try TrustBundle(authority, origins: OriginSecurity(), in: state, environment: [:])
    }

    private func variables(_ proxy: ProxyAddress? = nil, _ environment: [String: String] = [:]) -> [String: String] {
        let variables = ProxyVariables(
            proxy: proxy ?? ProxyAddress(host: "127.0.0.1", port: 3128), bundle: bundle, environment: environment)
        return Dictionary(uniqueKeysWithValues: variables.list.map { ($0.name, $0.value) })
    }

    @Test func bothCasesAndEveryBundle() {
        let variables = variables()
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            #expect(variables[name] == "http://127.0.0.1:3128")
        }
        #expect(variables["NO_PROXY"] == "" && variables["no_proxy"] == "")
        for name in ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"] {
            #expect(variables[name] == bundle.pem)
        }
        #expect(variables["NODE_USE_ENV_PROXY"] == "1")
    }

    @Test func optionsOfJava() throws {
        let java = try #require(variables(ProxyAddress(host: "::1", port: 8080))["JAVA_TOOL_OPTIONS"])
        let words = java.split(separator: " ")
        #expect(words.contains("-Dhttps.proxyHost=::1") && words.contains("-Dhttp.proxyPort=8080"))
        #expect(words.contains("-Dhttp.nonProxyHosts=") && words.contains("-Djavax.net.ssl.trustStoreType=PKCS12"))
        #expect(words.contains("-Djavax.net.ssl.trustStore=\(bundle.p12)"))
    }

    @Test func whatJavaWasToldBeforeStays() {
        let before = #"-Xmx1g "-Dmine=a b" -Dhttp.proxyHost=old "-Djavax.net.ssl.trustStore=/a b""#
        let once = variables(nil, ["JAVA_TOOL_OPTIONS": before])["JAVA_TOOL_OPTIONS"] ?? ""
        #expect(once.hasPrefix(#"-Xmx1g "-Dmine=a b" -Dhttp.proxyHost=127.0.0.1 "#) && !once.contains("/a b"))
        #expect(variables(nil, ["JAVA_TOOL_OPTIONS": once])["JAVA_TOOL_OPTIONS"] == once, "twice is no more than once")
    }

    @Test func linesOfAShell() {
        let text = ProxyVariables(
            proxy: ProxyAddress(host: "::1", port: 1), bundle: bundle, environment: ["JAVA_TOOL_OPTIONS": "-Da=it's"]
        ).shell
        #expect(text.contains("export https_proxy='http://[::1]:1'\n") && text.contains("export NO_PROXY=''\n"))
        #expect(text.contains("export JAVA_TOOL_OPTIONS='-Da=it'\\''s "))
    }

    @Test(arguments: [
        (["127.0.0.1:3128", "[::1]:3128"], "http://127.0.0.1:3128"), (["0.0.0.0:80"], "http://127.0.0.1:80"),
        (["[::]:80"], "http://[::1]:80"), (["127.0.0.1:0", "10.0.0.1:8"], "http://10.0.0.1:8"),
        (["https://127.0.0.1:1", "127.0.0.1:2"], "http://127.0.0.1:2"),
        (["https://127.0.0.1:1"], "https://127.0.0.1:1"),
    ])
    func whereTheProxyIs(_ listeners: [String], _ url: String) {
        #expect(ProxyAddress(listeners.compactMap { Listener($0) })?.url == url)
    }

    @Test func aFreePortIsNowhere() {
        #expect(ProxyAddress([Listener("127.0.0.1:0")].compactMap { $0 }) == nil && ProxyAddress([]) == nil)
    }

    // MARK: bundles

    @Test func theBundleHoldsEveryone() throws {
        let other = try TemporaryFolder()
        let extra = try AuthorityStore(AuthoritySettings(), in: StateDirectory(path: other.path)).certificatesOrMake()
            .certificates.root
        var origins = OriginSecurity()
        origins.extraTrust = [extra, extra]
        let system = other.file("system.pem")
        // a broken certificate among them is no reason to trust nobody
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        try Data(Array(broken.utf8) + authority.root.pem).write(to: URL(filePath: system))
        let bundle = try TrustBundle(
            authority, origins: origins, in: StateDirectory(path: folder.path), environment: ["SSL_CERT_FILE": system])
        let name = try #require(bundle.pem.split(separator: "/").last.map(String.init))
        let held = try Certificate.all(inPEM: folder.read(name)).map(\.sha256)
        #expect(held == [authority.root.sha256, extra.sha256])
        #expect(bundle.pem != self.bundle.pem && bundle.p12 == "\(bundle.pem.dropLast(4)).p12")
        #expect(bundle.pem.hasPrefix(folder.file("ca-bundle-")))
        #expect(try folder.mode(name) == 0o644 && !Data(contentsOf: URL(filePath: bundle.p12)).isEmpty)
        #expect(try !folder.names.contains { $0.hasSuffix(".new") })
    }
}
