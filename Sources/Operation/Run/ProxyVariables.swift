public import Formats
import HTTPCodec

/// The variables by which programs learn of a proxy and of whom they may trust: for `usher env` and `usher run`.
public struct ProxyVariables: Sendable {
    /// In the order in which they are printed.
    public let list: [(name: String, value: String)]

    private static let javaOptions = "JAVA_TOOL_OPTIONS"
    /// Options of the Java virtual machine that are given here, up to their values.
    private static let javaNames = [
        "http.proxyHost", "http.proxyPort", "https.proxyHost", "https.proxyPort", "http.nonProxyHosts",
        "javax.net.ssl.trustStore", "javax.net.ssl.trustStorePassword", "javax.net.ssl.trustStoreType",
    ].map { "-D\($0)=" }
    /// Who reads a file of certificates in PEM: OpenSSL, Ruby, Go, .NET and most others; then curl, Python's requests and
    /// pip, Node, Deno, the tools of AWS, git, Cargo.
    public static let bundleNames = [
        "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "DENO_CERT",
        "AWS_CA_BUNDLE", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO",
    ]
    /// In small letters; most programs read either, some only one of the two.
    static let proxyNames = ["http_proxy", "https_proxy", "all_proxy"]

    /// - Parameters:
    ///   - bundle: what to trust.
    ///   - environment: what is set already; the options of Java that stand there stay.
    public init(proxy: ProxyAddress, bundle: TrustBundle, environment: [String: String]) {
        var list: [(String, String)] = []
        for name in Self.proxyNames {
            list.append((name.uppercased(), proxy.url))
            list.append((name, proxy.url))
        }
        list.append(("NO_PROXY", ""))
        list.append(("no_proxy", ""))
        list += Self.bundleNames.map { ($0, bundle.pem) }
        // Node asks for a proxy only when it is told to (from 22.21 and 24 on)
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

    /// A word that a POSIX shell takes as it is.
    static func quoted(_ value: String) -> String {
        var out = "'"
        for character in value { if character == "'" { out += "'\\''" } else { out.append(character) } }
        return out + "'"
    }

    /// Splits as the Java virtual machine does: at white space outside quotes, which stay where they are.
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
