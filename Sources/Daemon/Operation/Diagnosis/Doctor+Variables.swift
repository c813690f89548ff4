import Addresses
import Authorization
import Configuration
import Interception
import ProxyCore
import TLSEngine

/// Checks the environment variables for programs.
extension Doctor {
    private static let remedy = "eval \"$(usher env)\""

    func variables(_ authority: AuthorityCertificates?) -> [Finding] {
        var findings: [Finding] = []
        if let proxy { findings += proxyVariables(proxy) }
        findings += bypasses()
        if let authority { findings += bundles(authority) }
        return findings
    }

    private func proxyVariables(_ proxy: ProxyAddress) -> [Finding] {
        var right: [String] = []
        var missing: [String] = []
        var findings: [Finding] = []
        for name in ProxyVariables.proxyNames.flatMap({ [$0.uppercased(), $0] }) {
            guard let value = environment[name], !value.isEmpty else {
                // few programs use all_proxy only, so a missing one is no problem
                if !name.lowercased().hasPrefix("all") { missing.append(name) }
                continue
            }
            if proxy.isNamed(by: value) {
                right.append(name)
            } else {
                findings.append(
                    .problem("\(name) is \(Self.withoutPassword(value)), not \(proxy.url)", remedy: Self.remedy))
            }
        }
        if !right.isEmpty {
            findings.append(.ok("\(right.joined(separator: ", ")) point at \(proxy.url)"))
        }
        if !missing.isEmpty {
            findings.append(
                .problem(
                    "\(missing.joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") not set: programs "
                        + "that read \(missing.count == 1 ? "it" : "them") bypass the proxy", remedy: Self.remedy))
        }
        return findings
    }

    private static func withoutPassword(_ value: String) -> String {
        guard let at = value.lastIndex(of: "@") else { return value }
        let start = value.firstRange(of: "://")?.upperBound ?? value.startIndex
        return value[..<start] + "…" + value[at...]
    }

    // MARK: NO_PROXY

    private func bypasses() -> [Finding] {
        ["NO_PROXY", "no_proxy"].flatMap { name -> [Finding] in
            let bypass = ProxyBypass(environment[name] ?? "")
            guard !bypass.isEmpty else { return [] }
            let bypassed = hostsOfInterest.compactMap { host in bypass.entry(for: host).map { (host, $0) } }
            guard !bypassed.isEmpty else {
                return [.ok("\(name) excludes no configured host from the proxy")]
            }
            return bypassed.map { host, entry in
                .problem(
                    "\(name) excludes \(host) from the proxy, with the entry \(entry)",
                    remedy: "remove \(entry) from \(name)")
            }
        }
    }

    /// The hosts of the configuration: AM, intercepted hosts and resources. Lower case; some are globs.
    private var hostsOfInterest: [String] {
        var hosts = snapshot.settings.servers.map(\.host)
        hosts += snapshot.settings.interception.hosts.map { Self.host(of: $0.description) }
        hosts += snapshot.settings.authorization.flatMap(\.resources).compactMap { resource in
            resource.url.firstRange(of: "://").map { Self.host(of: resource.url[$0.upperBound...]) }
        }
        var seen: Set<String> = []
        return hosts.filter { !$0.isEmpty && seen.insert($0).inserted }
    }

    /// The host of `host`, `host:port`, `[v6]:port`, or of the part after a URL's scheme.
    private static func host(of text: some StringProtocol) -> String {
        let authority = text.prefix { $0 != "/" && $0 != "?" }
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return HostName.normalized(authority[authority.index(after: authority.startIndex)..<end])
        }
        guard let colon = authority.firstIndex(of: ":"), authority.lastIndex(of: ":") == colon else {
            return HostName.normalized(authority)
        }
        return HostName.normalized(authority[..<colon])
    }

    // MARK: trust

    private func bundles(_ authority: AuthorityCertificates) -> [Finding] {
        let own = authority.root.sha256
        var right: [String] = []
        var missing: [String] = []
        var findings: [Finding] = []
        for name in ProxyVariables.bundleNames {
            guard let path = environment[name], !path.isEmpty else {
                missing.append(name)
                continue
            }
            do throws(FileError) {
                guard let bytes = try DescriptorBytes.read(public: path) else {
                    findings.append(.problem("\(name) names \(path), which does not exist", remedy: Self.remedy))
                    continue
                }
                if TrustBundle.certificates(bytes).contains(where: { $0.sha256 == own }) {
                    right.append(name)
                } else {
                    let what = "\(name) names \(path), which does not contain usher's CA"
                    findings.append(
                        intercepts
                            ? .problem(what, remedy: Self.remedy)
                            : .note("\(what); no host is intercepted, so no CA is needed"))
                }
            } catch {
                findings.append(.problem("\(name): \(error.description)", remedy: Self.remedy))
            }
        }
        if !right.isEmpty {
            findings.append(.ok("\(right.joined(separator: ", ")) name bundles that contain usher's CA"))
        }
        if !missing.isEmpty {
            let what = "\(missing.joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") not set"
            findings.append(
                intercepts
                    ? .problem(
                        "\(what): programs that read \(missing.count == 1 ? "it" : "them") refuse intercepted hosts",
                        remedy: Self.remedy)
                    : .note("\(what); no host is intercepted, so no CA is needed"))
        }
        let java = environment["JAVA_TOOL_OPTIONS"] ?? ""
        if intercepts, !java.contains("-Djavax.net.ssl.trustStore=") {
            findings.append(
                .note("JAVA_TOOL_OPTIONS names no trustStore: Java trusts only its own store", remedy: Self.remedy))
        }
        return findings
    }
}
