public import Configuration
import ProxyCore

/// What the commands ask of a configuration, or change in it.
extension Snapshot {
    /// Clients have to show a user name and a password.
    public var asksForPassword: Bool { settings.users != nil }

    /// Opens the TLS of a host too.
    /// - Parameter text: as in `tls.intercept`.
    /// - Returns: false where it is no host, host glob or block of addresses.
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
