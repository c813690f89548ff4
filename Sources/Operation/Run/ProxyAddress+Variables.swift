import Formats
import HTTPCodec

/// Compares a shell's proxy variables with this address.
extension ProxyAddress {
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
