import Formats

/// The normal form of a host, which all comparisons use. A name is in lower case without the final dot. An address is in
/// canonical text without brackets; IPv4-mapped IPv6 becomes IPv4.
public enum HostName {
    /// The longest name in characters, without the final dot (RFC 1035 §2.3.4).
    public static let maxLength = 253
    public static let maxLabel = 63

    /// Converts a host from a configuration or a program to the normal form. Globs keep their stars.
    public static func normalized(_ host: some StringProtocol) -> String {
        if let address = IPAddress(host) { return address.unmapped.description }
        let name = host.utf8.count > 1 && host.last == "." ? host.dropLast() : host[...]
        // resolvers read 127.0.0.1. as an address
        if let address = IPAddress(name) { return address.unmapped.description }
        return ASCII.lowercased(name)
    }

    /// Converts a host or a host glob, with or without a port. An IPv6 address has brackets.
    public static func normalized(authority text: String) -> String {
        if text.hasPrefix("["), let end = text.lastIndex(of: "]") {
            let name = normalized(text[..<end].dropFirst())
            return (name.contains(":") ? "[\(name)]" : name) + text[end...].dropFirst()
        }
        guard let colon = text.lastIndex(of: ":") else { return normalized(text) }
        return normalized(text[..<colon]) + text[colon...]
    }
}
