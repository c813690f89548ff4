import Addresses
public import Configuration
import HTTPCodec

/// The proxy's address for programs on this machine.
public struct ProxyAddress: Equatable, Sendable {
    /// A numeric address without brackets.
    public let host: String
    public let port: UInt16

    /// True if clients use TLS to the proxy.
    public let isSecure: Bool

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
        isSecure = false
    }

    /// The first listener without TLS, else the first one; loopback in place of a wildcard address. Nil if all listeners have
    /// port 0.
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
