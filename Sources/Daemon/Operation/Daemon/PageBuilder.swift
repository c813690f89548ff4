import Configuration
import Formats
import ProxyCore
import TLSEngine

/// Builds the pages of `http://usher.proxy/`.
struct PageBuilder {
    /// Nil if there is no CA.
    let authority: AuthorityCertificates?
    /// The proxy's URL for the lines to copy.
    let proxy: String

    /// The pages of `http://usher.proxy/`. If the CA cannot be read, they omit it; interception reports the error.
    /// - Parameter address: an address that the proxy listens on.
    static func pages(_ snapshot: Snapshot, at address: ListeningAddress?) -> OwnPages? {
        let state = StateDirectory(ProcessEnvironment.all)
        let authority = try? AuthorityStore(snapshot.tls.authority, in: state).certificates()
        let proxy = address?.proxy ?? ProxyAddress(Snapshot.defaultListeners)
        return try? PageBuilder(authority: authority, proxy: proxy?.url ?? "").pages()
    }

    /// - Throws: `MaterialFault` if the CA's certificate cannot be encoded.
    func pages() throws(MaterialFault) -> OwnPages {
        var pages = [
            "/health": OwnPages.Page(type: "text/plain; charset=utf-8", body: Array("ok\n".utf8)),
            "/": OwnPages.Page(type: "text/html; charset=utf-8", body: Array(html.utf8)),
        ]
        if let root = authority?.root {
            pages["/ca.pem"] = OwnPages.Page(type: "application/x-pem-file", body: root.pem, fileName: "usher-ca.pem")
            pages["/ca.cer"] = OwnPages.Page(
                type: "application/x-x509-ca-cert", body: root.der, fileName: "usher-ca.cer")
            pages["/ca.p12"] = OwnPages.Page(
                type: "application/x-pkcs12",
                body: try PKCS12.trustStore([root], password: TrustBundle.password), fileName: "usher-ca.p12")
        }
        return OwnPages(pages)
    }

    private var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Usher</title>
        <style>
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem }
        pre { background: #f3f3f3; color: #111; padding: .6rem .8rem; overflow-x: auto }
        h2 { font-size: 1.05rem; margin: 1.4rem 0 .3rem }
        code { overflow-wrap: anywhere }
        </style>
        </head>
        <body>
        <h1>Usher</h1>
        <p>You reached this page through Usher, a forward proxy. <a href="/health">Its health</a>.</p>
        \(authority.map { certificateSection($0.root) } ?? noCertificate)
        </body>
        </html>

        """
    }

    private var noCertificate: String {
        """
        <p>There is no CA yet, because no host is intercepted. HTTPS passes unopened, and clients need not trust anything. Usher \
        creates a CA when <code>tls.intercept</code> names hosts.</p>
        """
    }

    private func certificateSection(_ root: Certificate) -> String {
        """
        <p>For the configured hosts, Usher opens HTTPS with certificates of its own CA. Clients must trust that CA: as \
        <a href="/ca.pem">PEM</a>, <a href="/ca.cer">DER</a> or <a href="/ca.p12">PKCS #12</a> (password \
        <code>\(TrustBundle.password)</code>). First compare the fingerprint with that of <code>usher ca show</code>.</p>
        <p>\(MarkupText.escaped(root.subject))<br>SHA-256 <code>\(MarkupText.escaped(root.fingerprint))</code><br>\
        valid until \(CalendarTime(root.notAfter).internet)</p>
        \(sections.map { "<h2>\(MarkupText.escaped($0.title))</h2>\n" + Self.body($0.lines) }.joined(separator: "\n"))
        """
    }

    private struct Section {
        let title: String
        /// Lines that begin with `$ ` are shell commands.
        let lines: [String]
    }

    private var sections: [Section] {
        let get = "curl -x \(proxy)"
        return [
            Section(
                title: "All programs on this machine",
                lines: ["$ usher run -- COMMAND", "$ eval \"$(usher env)\""]),
            Section(
                title: "Debian, Ubuntu",
                lines: [
                    "$ \(get) http://usher.proxy/ca.pem | sudo tee /usr/local/share/ca-certificates/usher.crt >/dev/null",
                    "$ sudo update-ca-certificates",
                ]),
            Section(
                title: "macOS",
                lines: [
                    "$ \(get) -o usher-ca.cer http://usher.proxy/ca.cer",
                    "$ sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain usher-ca.cer",
                ]),
            Section(
                title: "Windows",
                lines: [
                    "$ curl.exe -x \(proxy) -o usher-ca.cer http://usher.proxy/ca.cer",
                    "$ certutil -user -addstore Root usher-ca.cer",
                ]),
            Section(
                title: "iOS",
                lines: [
                    "Set the proxy under Settings, Wi-Fi, the network's details, Configure Proxy. Open http://usher.proxy/ca.cer in Safari and allow the profile.",
                    "Install it under Settings, General, VPN & Device Management; then switch it on under Settings, General, About, Certificate Trust Settings.",
                ]),
            Section(
                title: "Android",
                lines: [
                    "Set the proxy in the network's details; an emulator takes -http-proxy, and finds this machine at 10.0.2.2. Open http://usher.proxy/ca.cer, then Settings, Security, Encryption & credentials, Install a certificate, CA certificate.",
                    "Apps trust it only if their network security configuration says so, for debug builds:",
                    "$ <debug-overrides><trust-anchors><certificates src=\"user\"/></trust-anchors></debug-overrides>",
                ]),
            Section(
                title: "Firefox",
                lines: [
                    "Settings, Privacy & Security, View Certificates, Authorities, Import: ca.pem. Or set "
                        + "security.enterprise_roots.enabled in about:config, and Firefox trusts the system's roots."
                ]),
            Section(
                title: "Java",
                lines: [
                    "$ \(get) -o usher-ca.pem http://usher.proxy/ca.pem",
                    "$ keytool -importcert -noprompt -alias usher -cacerts -storepass changeit -file usher-ca.pem",
                    "Or, without a change to the installation, if Java needs no other roots:",
                    "$ java -Djavax.net.ssl.trustStore=usher-ca.p12 -Djavax.net.ssl.trustStorePassword=\(TrustBundle.password) -Djavax.net.ssl.trustStoreType=PKCS12 …",
                ]),
            Section(
                title: "Node",
                lines: ["$ NODE_EXTRA_CA_CERTS=usher-ca.pem NODE_USE_ENV_PROXY=1 HTTPS_PROXY=\(proxy) node …"]),
            Section(
                title: "Python",
                lines: [
                    "requests and pip read one file instead of their own, so it must contain the usual roots, too. "
                        + "usher env creates one and names it, here BUNDLE:",
                    "$ REQUESTS_CA_BUNDLE=BUNDLE SSL_CERT_FILE=BUNDLE HTTPS_PROXY=\(proxy) python3 …",
                ]),
            Section(
                title: "Go",
                lines: [
                    "On Linux it trusts SSL_CERT_FILE, elsewhere the system's roots. It never uses a proxy for "
                        + "localhost.",
                    "$ SSL_CERT_FILE=BUNDLE HTTPS_PROXY=\(proxy) ./program",
                ]),
            Section(
                title: ".NET",
                lines: [
                    "On Linux it trusts SSL_CERT_FILE, elsewhere the system's roots.",
                    "$ SSL_CERT_FILE=BUNDLE HTTPS_PROXY=\(proxy) dotnet run",
                ]),
        ]
    }

    private static func body(_ lines: [String]) -> String {
        lines.map { line in
            line.hasPrefix("$ ")
                ? "<pre>\(MarkupText.escaped(line.dropFirst(2)))</pre>" : "<p>\(MarkupText.escaped(line))</p>"
        }.joined(separator: "\n")
    }
}
