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

    public init() {}

    public var isEmpty: Bool { hosts.isEmpty }

    /// - Parameter host: lower case, an address without brackets.
    public func opens(_ host: String, port: UInt16) -> Bool {
        guard !hosts.isEmpty else { return false }
        let address = IPAddress(host)
        func fits(_ pattern: DestinationPattern) -> Bool {
            pattern.covers(host, port: port, address: address)
        }
        return hosts.contains(where: fits) && !except.contains(where: fits)
    }
}
