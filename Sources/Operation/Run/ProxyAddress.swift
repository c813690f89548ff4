import Addresses
public import Configuration
import HTTPCodec

/// Where a program on this machine finds the proxy.
public struct ProxyAddress: Equatable, Sendable {
    /// A numeric address, without brackets.
    public let host: String
    public let port: UInt16

    /// The proxy itself speaks TLS there.
    public let isSecure: Bool

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
        isSecure = false
    }

    /// The first plain listener of a configuration, or else the first; loopback where it listens on every address. Nil
    /// where every one picks a free port.
    public init?(_ listeners: [Listener]) {
        let known = listeners.filter { $0.port != 0 }
        guard let listener = known.first(where: { !$0.isSecure }) ?? known.first else { return nil }
        if listener.address.isUnspecified {
            host = listener.address.family == .v6 ? "::1" : "127.0.0.1"
        } else {
            host = listener.host
        }
        port = listener.port
        isSecure = listener.isSecure
    }

    public var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    public var url: String { (isSecure ? "https://" : "http://") + authority }
}
