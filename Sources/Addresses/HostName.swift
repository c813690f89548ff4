import Formats

/// The one normal form of a host, which is what everything compares: a name in lower case without the dot that ends a
/// fully qualified one, an address in its canonical text without brackets, IPv4 also where it came in IPv6 clothes.
public enum HostName {
    /// Characters of a name, without that dot (RFC 1035 §2.3.4).
    public static let maxLength = 253
    public static let maxLabel = 63

    /// Brings what a configuration or a program names into the normal form. Globs keep their stars.
    public static func normalized(_ host: some StringProtocol) -> String {
        if let address = IPAddress(host) { return address.unmapped.description }
        let name = host.utf8.count > 1 && host.last == "." ? host.dropLast() : host[...]
        // 127.0.0.1. is what a resolver makes of it: an address
        if let address = IPAddress(name) { return address.unmapped.description }
        return ASCII.lowercased(name)
    }

    /// The same for a host, or a glob over one, with or without a port. An IPv6 address has brackets.
    public static func normalized(authority text: String) -> String {
        if text.hasPrefix("["), let end = text.lastIndex(of: "]") {
            let name = normalized(text[..<end].dropFirst())
            return (name.contains(":") ? "[\(name)]" : name) + text[end...].dropFirst()
        }
        guard let colon = text.lastIndex(of: ":") else { return normalized(text) }
        return normalized(text[..<colon]) + text[colon...]
    }
}
