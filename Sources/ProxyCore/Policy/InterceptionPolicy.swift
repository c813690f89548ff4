internal import Addresses

/// Whose TLS is opened: `tls.intercept`, `tls.except` and `tls.on_refusal` of the configuration.
public struct InterceptionPolicy: Sendable {
    /// What becomes of a host whose certificate a client refuses again and again.
    public enum OnRefusal: String, CaseIterable, Sendable {
        case fail
        /// For that client it is tunnelled unopened for a while.
        case tunnel
    }

    public var hosts: [DestinationPattern] = []
    /// Hosts that are left alone though `hosts` names them.
    public var except: [DestinationPattern] = []
    public var onRefusal = OnRefusal.fail
    /// How far the origins behind opened tunnels are trusted.
    public var security = OriginSecurity()

    public init() {}

    public var isEmpty: Bool { hosts.isEmpty }

    /// The key that leaves a host's TLS unopened.
    public enum Key: String, Sendable {
        case intercept = "tls.intercept"
        case except = "tls.except"
    }

    /// - Parameter host: lower case, an address without brackets.
    public func opens(_ host: String, port: UInt16) -> Bool { closed(host, port: port) == nil }

    /// By which key it stays closed; nil where it is opened.
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
