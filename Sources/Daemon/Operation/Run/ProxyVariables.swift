public import Formats

/// The environment variables that tell programs about a proxy and its certificates, for `usher env` and `usher run`.
public struct ProxyVariables: Sendable {
    /// In the order in which they are printed.
    public let list: [(name: String, value: String)]

    private static let javaOptions = "JAVA_TOOL_OPTIONS"
    /// Options of the Java virtual machine that Usher sets, up to their values.
    private static let javaNames = [
        "http.proxyHost", "http.proxyPort", "https.proxyHost", "https.proxyPort", "http.nonProxyHosts",
        "javax.net.ssl.trustStore", "javax.net.ssl.trustStorePassword", "javax.net.ssl.trustStoreType",
    ].map { "-D\($0)=" }
    /// Variables for a PEM bundle: OpenSSL, Ruby, Go, .NET and most others; then curl, Python's requests and pip, Node, Deno, the
    /// AWS tools, git, Cargo.
    public static let bundleNames = [
        "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "DENO_CERT",
        "AWS_CA_BUNDLE", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO",
    ]
    /// In lower case. Most programs read both cases, some only one of them.
    static let proxyNames = ["http_proxy", "https_proxy", "all_proxy"]

    /// - Parameters:
    ///   - bundle: the certificates to trust.
    ///   - environment: the present variables. Existing Java options are kept.
    public init(proxy: ProxyAddress, bundle: TrustBundle, environment: [String: String]) {
        var list: [(String, String)] = []
        for name in Self.proxyNames {
            list.append((name.uppercased(), proxy.url))
            list.append((name, proxy.url))
        }
        list.append(("NO_PROXY", ""))
        list.append(("no_proxy", ""))
        list += Self.bundleNames.map { ($0, bundle.pem) }
        // Node uses a proxy only with this variable (since 22.21 and 24)
        list.append(("NODE_USE_ENV_PROXY", "1"))
        var java = Self.words(environment[Self.javaOptions] ?? "").filter { word in
            !Self.javaNames.contains { word.drop { $0 == "\"" || $0 == "'" }.hasPrefix($0) }
        }
        let values = [
            proxy.host, "\(proxy.port)", proxy.host, "\(proxy.port)", "", bundle.p12, TrustBundle.password, "PKCS12",
        ]
        for (name, value) in zip(Self.javaNames, values) {
            java.append(value.contains(" ") ? "\"\(name)\(value)\"" : name + value)
        }
        list.append((Self.javaOptions, java.joined(separator: " ")))
        self.list = list
    }

    /// Lines for a POSIX shell: `export NAME='value'`.
    public var shell: String { list.map { "export \($0.name)=\(Self.quoted($0.value))\n" }.joined() }

    public var json: JSONValue { .object(list.map { JSONValue.Member($0.name, .string($0.value)) }) }

    /// Quotes a word for a POSIX shell.
    static func quoted(_ value: String) -> String {
        var out = "'"
        for character in value { if character == "'" { out += "'\\''" } else { out.append(character) } }
        return out + "'"
    }

    /// Splits like the Java virtual machine: at white space outside quotes, and keeps the quotes.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Character?
        for character in text {
            if quote == nil, character.isWhitespace {
                if !word.isEmpty { words.append(word) }
                word = ""
                continue
            }
            if quote == character {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
            }
            word.append(character)
        }
        if !word.isEmpty { words.append(word) }
        return words
    }
}
