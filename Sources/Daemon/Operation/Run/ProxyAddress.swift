import Addresses
public import Configuration
import Formats

/// The proxy's address for programs on this machine.
public struct ProxyAddress: Equatable, Sendable {
    /// A numeric address without brackets.
    public let host: String
    public let port: UInt16

    /// True if clients use TLS to the proxy.
    public let isSecure: Bool

    init(host: String, port: UInt16, isSecure: Bool = false) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
    }

    /// The first listener without TLS, else the first one; loopback in place of a wildcard address. Nil if all listeners have
    /// port 0.
    public init?(_ listeners: [Listener]) {
        let known = listeners.filter { $0.port != 0 }
        guard let listener = known.first(where: { !$0.isSecure }) ?? known.first else { return nil }
        if listener.address.isUnspecified {
            host = listener.address.family == .v6 ? "::1" : "127.0.0.1"
        } else {
            host = listener.host
        }
        port = listener.port
        isSecure = listener.isSecure
    }

    public var scheme: String { isSecure ? "https" : "http" }
    public var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    public var url: String { "\(scheme)://\(authority)" }

    // MARK: a shell's proxy variables

    /// Whether a variable's value refers to this proxy.
    func isNamed(by value: String) -> Bool {
        var rest = value[...]
        // without a scheme, programs use HTTP
        guard isSecure == ASCII.equal(rest.prefix(8), "https://") else { return false }
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        let named = rest.prefix { $0 != "/" }
        if named == authority { return true }
        let isLoopback = ["127.0.0.1", "::1"].contains(host)
        return isLoopback && ASCII.equal(named, "localhost:\(port)")
    }

    /// The user and password in the variables for this proxy, decoded: `user:password`.
    func credentials(in environment: [String: String]) -> String? {
        for name in ProxyVariables.proxyNames.flatMap({ [$0, $0.uppercased()] }) {
            guard let value = environment[name], let at = value.lastIndex(of: "@"), isNamed(by: value) else { continue }
            let userinfo = value[..<at]
            let start = userinfo.firstRange(of: "://")?.upperBound ?? userinfo.startIndex
            return PercentCoding.decode(userinfo[start...])
        }
        return nil
    }
}
