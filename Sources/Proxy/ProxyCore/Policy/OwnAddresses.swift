public import Addresses

/// The addresses of this process's listeners, so that no request loops back to it.
public struct OwnAddresses: Sendable {
    private let listeners: [(address: IPAddress, port: UInt16)]

    public init(_ listeners: [(address: IPAddress, port: UInt16)]) {
        self.listeners = listeners.map { ($0.address.unmapped, $0.port) }
    }

    /// A connection to that address would reach this proxy.
    public func contains(_ address: IPAddress, port: UInt16) -> Bool {
        let forms = address.forms
        return listeners.contains { listener in
            // a listener on the unspecified address accepts connections to every address of this machine
            listener.port == port
                && (forms.contains(listener.address)
                    || listener.address.isUnspecified && forms.contains { $0.isLoopback || $0.isUnspecified })
        }
    }

    /// An established connection has reached this proxy's listener on all addresses, by an address of this machine.
    /// - Parameter local: the local address of the connection.
    public func contains(_ address: IPAddress, port: UInt16, from local: IPAddress?) -> Bool {
        guard local?.unmapped == address.unmapped else { return false }
        return listeners.contains { $0.port == port && $0.address.isUnspecified }
    }
}
