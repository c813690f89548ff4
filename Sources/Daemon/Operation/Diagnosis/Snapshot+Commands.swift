public import Configuration
import ProxyCore

/// Queries and changes of a configuration by commands.
extension Snapshot {
    /// True if clients must authenticate with a user name and a password.
    public var asksForPassword: Bool { settings.users != nil }

    /// Intercepts another host.
    /// - Parameter text: a value of `tls.intercept`.
    /// - Returns: false if the text is no host, host glob or address block.
    @discardableResult
    public mutating func intercept(_ text: String) -> Bool {
        guard let name = try? InternationalName.ascii(host: text), let pattern = DestinationPattern(name) else {
            return false
        }
        settings.interception.hosts.append(pattern)
        tls.interception.hosts.append(pattern)
        return true
    }
}
