public import Addresses
import HTTPCodec

/// Where this process listens, so that no request comes back to it.
public struct OwnAddresses: Sendable {
    private let listeners: [(address: IPAddress, port: UInt16)]

    public init(_ listeners: [(address: IPAddress, port: UInt16)]) {
        self.listeners = listeners.map { ($0.address.unmapped, $0.port) }
    }

    /// Whether a connection to that address would come back to this very proxy.
    public func contains(_ address: IPAddress, port: UInt16) -> Bool {
        let forms = address.forms
        return listeners.contains { listener in
            // a listener on the unspecified address hears every address of this machine
            listener.port == port
                && (forms.contains(listener.address)
                    || listener.address.isUnspecified && forms.contains { $0.isLoopback || $0.isUnspecified })
        }
    }

    /// Whether a connection that stands has come back by an address of this machine which only a listener on every address
    /// hears.
    /// - Parameter local: the near end of the connection.
    public func contains(_ address: IPAddress, port: UInt16, from local: IPAddress?) -> Bool {
        guard local?.unmapped == address.unmapped else { return false }
        return listeners.contains { $0.port == port && $0.address.isUnspecified }
    }
}
