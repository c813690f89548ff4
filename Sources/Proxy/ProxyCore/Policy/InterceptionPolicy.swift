internal import Addresses

/// Decides which TLS is decrypted: `tls.intercept`, `tls.except` and `tls.on_refusal` of the configuration.
public struct InterceptionPolicy: Sendable {
    /// The treatment of a host whose certificate a client refuses repeatedly.
    public enum OnRefusal: String, CaseIterable, Sendable {
        case fail
        /// Tunnels the host's TLS for that client without decryption, for a while.
        case tunnel
    }

    public var hosts: [DestinationPattern] = []
    /// Hosts that are not decrypted though `hosts` matches them.
    public var except: [DestinationPattern] = []
    public var onRefusal = OnRefusal.fail
    /// The trust in the origins of decrypted tunnels.
    public var security = OriginSecurity()

    public init() {}

    public var isEmpty: Bool { hosts.isEmpty }

    /// The key that keeps a host's TLS encrypted.
    public enum Key: String, Sendable {
        case intercept = "tls.intercept"
        case except = "tls.except"
    }

    /// - Parameter host: lower case, an address without brackets.
    public func opens(_ host: String, port: UInt16) -> Bool { closed(host, port: port) == nil }

    /// The key that keeps the host's TLS encrypted; nil if it is decrypted.
    public func closed(_ host: String, port: UInt16) -> Key? {
        guard !hosts.isEmpty else { return .intercept }
        let address = IPAddress(host)
        func fits(_ pattern: DestinationPattern) -> Bool {
            pattern.covers(host, port: port, address: address)
        }
        guard hosts.contains(where: fits) else { return .intercept }
        return except.contains(where: fits) ? .except : nil
    }
}
