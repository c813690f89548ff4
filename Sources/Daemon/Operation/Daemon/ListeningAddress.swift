import EventLoop

/// An address that the proxy listens on, with its actual port.
struct ListeningAddress: Sendable, CustomStringConvertible {
    let address: SocketAddress
    /// True if clients use TLS there.
    let isSecure: Bool

    /// The URL for TLS listeners, else the address.
    var description: String { (isSecure ? "https://" : "") + address.description }
}
