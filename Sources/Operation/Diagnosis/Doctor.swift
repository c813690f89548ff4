public import Configuration
import Formats
import Glibc
import HTTPCodec
public import Interception
import ProxyCore
import TLSEngine

/// Checks from an app's point of view whether traffic passes the proxy, and reports problems: `usher doctor`.
public struct Doctor {
    let snapshot: Snapshot
    let environment: [String: String]
    let store: AuthorityStore
    /// The daemon's address; nil if every listener has port 0.
    let proxy: ProxyAddress?

    /// The tolerated difference of clocks, in seconds.
    private static let clockTolerance = 300
    public init(_ snapshot: Snapshot, state: StateDirectory, environment: [String: String]) {
        self.snapshot = snapshot
        self.environment = environment
        store = AuthorityStore(snapshot.tls.authority, in: state)
        proxy = ProxyAddress(snapshot.listeners)
    }

    var speaksHTTP2: Bool { snapshot.settings.http2.clients }
    var intercepts: Bool { !snapshot.settings.interception.isEmpty }
    /// True if certificates of the CA are used: for interception or for TLS to the proxy.
    private var usesAuthority: Bool {
        intercepts || snapshot.tls.listener == nil && snapshot.listeners.contains(where: \.isSecure)
    }

    /// Checks the daemon, AM through the proxy, and this shell's variables.
    public func examine() -> [Finding] {
        let own = ownCertificates()
        var findings = snapshot.warnings.filter { $0.severity == .note }.map { Finding(.note, $0.message) }
        findings += own.findings + interface()
        if let proxy, proxy.isSecure {
            findings.append(
                Finding(
                    .note, "\(proxy.url) uses TLS, and doctor supports only plain listeners",
                    remedy: "add a plain loopback address to listen"))
        } else if let proxy {
            let client = ProxyClient(proxy: proxy, credentials: proxy.credentials(in: environment))
            if daemon(client, &findings) {
                servedAuthority(client, own.certificates, &findings)
                servers(client, &findings)
            }
        } else {
            findings.append(
                Finding(
                    .problem, "listen names no port, so programs cannot find the proxy",
                    remedy: "add a port to listen, or use usher run"))
        }
        findings += variables(own.certificates)
        if !speaksHTTP2 {
            findings.append(
                Finding(
                    .note, "http2.clients is false: in opened TLS, an app that offers h2 (ALPN) gets http/1.1",
                    remedy: intercepts
                        ? "set http2.clients, or use tls.except, for apps that need HTTP/2, such as gRPC" : nil)
            )
        }
        return findings
    }

    // MARK: CA

    /// The certificates on disk, with findings about them.
    func ownCertificates() -> (certificates: AuthorityCertificates?, findings: [Finding]) {
        do throws(FileError) {
            guard let certificates = try store.certificates() else {
                let what = "there is no CA in \(store.files.certificate) yet"
                return (
                    nil,
                    [
                        intercepts
                            ? Finding(.problem, what, remedy: "usher serve or usher ca show creates it")
                            : Finding(.note, "\(what); no host is intercepted, so no CA is needed")
                    ]
                )
            }
            // reads the key, too, to find out whether the daemon could
            if case .missing = store.files.key {} else { _ = try store.load() }
            let remarks = store.remarks(on: certificates.root)
            guard remarks.isEmpty || usesAuthority else {
                return (
                    certificates, [Finding(.ok, "no host is intercepted, so \(store.files.certificate) is not used")]
                )
            }
            guard remarks.isEmpty else {
                return (certificates, remarks.map { Finding($0.isFault ? .problem : .note, $0.words) })
            }
            return (
                certificates,
                [
                    Finding(
                        .ok,
                        "the CA \(store.files.certificate) is valid until \(CalendarDate.text(certificates.root.notAfter))"
                    )
                ]
            )
        } catch {
            return (nil, [Finding(.problem, error.description)])
        }
    }

    private func servedAuthority(
        _ client: ProxyClient, _ own: AuthorityCertificates?, _ findings: inout [Finding]
    ) {
        switch ServedAuthority(client, own: own) {
        case .unknown:
            if intercepts {
                findings.append(
                    Finding(
                        .problem,
                        "the proxy has no CA at http://usher.proxy/ca.pem, although tls.intercept names hosts",
                        remedy: "reload its configuration: systemctl reload usher, or SIGHUP"))
            }
        case .own: findings.append(Finding(.ok, "the proxy's CA is the one in \(store.files.certificate)"))
        case .retired:
            findings.append(
                Finding(
                    .problem, "the proxy still uses the CA from before usher ca rotate",
                    remedy: "systemctl reload usher, or SIGHUP"))
        case .foreign(let fingerprint):
            findings.append(
                Finding(
                    .problem,
                    "the proxy's CA (SHA-256 \(fingerprint)) is not the one in \(store.files.certificate), so the "
                        + "bundle of usher env does not trust it",
                    remedy: store.remedy(beside: client.proxy)))
        }
    }

    // MARK: daemon

    /// Whether the daemon responds and does not require unknown credentials.
    private func daemon(_ client: ProxyClient, _ findings: inout [Finding]) -> Bool {
        let address = client.proxy.authority
        do throws(ProxyClient.Fault) {
            let answer = try client.get("http://usher.proxy/health")
            guard answer.isUshers else {
                findings.append(
                    Finding(
                        .problem, "another program listens on \(address) (status \(answer.head.status))",
                        remedy: "stop it, or give usher another port with listen"))
                return false
            }
            switch answer.head.status {
            case 200:
                findings.append(Finding(.ok, "the proxy listens on \(address)"))
                return true
            case 407:
                findings.append(
                    Finding(
                        .problem, "the proxy on \(address) requires a user name and a password",
                        remedy: "set http_proxy=http://USER:PASSWORD@\(address) and the other variables"))
            case let status:
                findings.append(
                    Finding(
                        .problem, "the proxy on \(address) responds with status \(status)",
                        remedy: answer.proxyFault ?? "see its log"))
            }
        } catch {
            findings.append(
                Finding(
                    .problem,
                    error.isRefused
                        ? "nothing listens on \(address)" : "the proxy does not respond: \(error.description)",
                    remedy: "start it: usher serve, or systemctl start usher"))
        }
        return false
    }

    // MARK: AM and the clock

    private func servers(_ client: ProxyClient, _ findings: inout [Finding]) {
        var isClockJudged = false
        for server in snapshot.settings.servers {
            let url = "\(server.url)/json/serverinfo/*"
            do throws(ProxyClient.Fault) {
                let answer = try client.get(url)
                findings.append(Self.reach(url, answer))
                findings += Self.cookie(server, answer).map { [$0] } ?? []
                guard answer.proxyFault == nil, let date = answer.head.fields["date"], !isClockJudged,
                    let theirs = CalendarDate.seconds(ofHTTPDate: date)
                else { continue }
                isClockJudged = true
                findings.append(Self.clock(theirs, time(nil), server.host))
            } catch {
                findings.append(
                    Finding(
                        .problem, "AM does not respond through the proxy: \(error.description)", remedy: "see its log"))
            }
        }
        if snapshot.settings.servers.isEmpty {
            findings.append(
                Finding(
                    .note, "the configuration names no AM, so no Action is recognised", remedy: "add am: [{ url: … }]"))
        } else if !isClockJudged {
            findings.append(Finding(.note, "no AM sent its time, so this machine's clock was not compared"))
        }
    }

    static func reach(_ url: String, _ answer: ProxyClient.Answer) -> Finding {
        let status = answer.head.status
        if let words = answer.proxyFault {
            return Finding(
                .problem, "AM cannot be reached through the proxy: \(words)", remedy: "status \(status) for \(url)")
        }
        switch status {
        case 200..<300: return Finding(.ok, "AM responds through the proxy (status \(status) for \(url))")
        case 404:
            return Finding(
                .problem, "there is no AM at \(url) (status 404)",
                remedy: "see url in am; it must end in AM's context path")
        case 500...:
            return Finding(
                .problem,
                "AM responds with status \(status) for \(url)", remedy: "see AM's own log")
        default: return Finding(.note, "AM responds through the proxy, with status \(status) for \(url)")
        }
    }

    /// Compares AM's session cookie with the configured one, by which Usher finds sessions.
    static func cookie(_ server: AuthorizationServer, _ answer: ProxyClient.Answer) -> Finding? {
        guard answer.proxyFault == nil, answer.head.status == 200,
            let name = EditedBody.json(in: answer.body, answer.head.fields, limit: 1 << 20)?["cookieName"]?.text,
            FieldSyntax.isName(name), name != server.cookie
        else { return nil }
        return Finding(
            .problem,
            "the session cookie of AM at \(server.url) is \(name), but the configuration has \(server.cookie)",
            remedy: "set cookie: \(name) in its entry of am")
    }

    static func clock(_ theirs: Int, _ ours: Int, _ host: String) -> Finding {
        let apart = abs(theirs - ours)
        guard apart > clockTolerance else {
            return Finding(.ok, "this machine's clock agrees with that of \(host)")
        }
        return Finding(
            .problem,
            "this machine's clock is \(apart) s \(ours > theirs ? "ahead of" : "behind") that of \(host); "
                + "certificates and one-time passwords depend on it",
            remedy: "timedatectl set-ntp true")
    }

    // MARK: the control socket

    func interface() -> [Finding] {
        var findings: [Finding] = []
        if let group = snapshot.controlGroup, getgrnam(group) == nil {
            findings.append(
                Finding(
                    .problem, "admin.group names \(group), which is not a group on this machine",
                    remedy: "addgroup --system \(group)"))
        }
        do throws(ControlClient.Fault) {
            if let url = try ControlURL(environment) { return try findings + [distant(url)] }
        } catch {
            return findings + [Finding(.problem, error.description)]
        }
        let places = ControlPath.candidates(given: nil, snapshot.controlSocket, environment)
        if let path = places.first(where: Self.isForbidden) {
            findings.append(
                Finding(
                    .problem, "this user may not open the daemon's control socket \(path)",
                    remedy: SocketAccess.remedy(for: path, user: environment["USER"])))
        }
        return findings
    }

    private func distant(_ url: ControlURL) throws(ControlClient.Fault) -> Finding {
        switch try ControlClient(url).ask("GET", "/v1/status") {
        case .done: Finding(.ok, "commands use the daemon at \(url.shown) because of \(ControlURL.variable)")
        case .refused(_, let words): Finding(.problem, "\(url.shown) responds: \(words)")
        }
    }

    private static func isForbidden(_ path: String) -> Bool { access(path, R_OK | W_OK) != 0 && errno == EACCES }

    // MARK: a command that ran with a proxy of its own

    /// - Parameters:
    ///   - status: the command's exit status.
    ///   - withheld: variables that the command did not receive.
    public func judge(
        _ records: [ExchangeRecord], command: [String], status: Int32, withheld: [String]
    ) -> [Finding] {
        var findings = ownCertificates().findings
        if status != 0 { findings.append(Finding(.note, "the command ended with status \(status)")) }
        if !withheld.isEmpty {
            findings.append(
                Finding(
                    .note,
                    "the command did not get the variables that the configuration reads: "
                        + "\(withheld.joined(separator: ", "))",
                    remedy: "use --pass-env NAME if the command needs one of them"))
        }
        findings +=
            CommandDiagnosis(records, command: command, namesServers: !snapshot.settings.servers.isEmpty).findings
        return findings
    }
}
