import EventLoop

/// An address that the proxy listens on, with its actual port.
struct ListeningAddress: Sendable, CustomStringConvertible {
    let address: SocketAddress
    /// True if clients use TLS there.
    let isSecure: Bool

    /// The address for programs on this machine: loopback in place of a wildcard address.
    var proxy: ProxyAddress {
        let isWildcard = ["0.0.0.0", "::"].contains(address.host)
        let host = isWildcard ? address.isIPv6 ? "::1" : "127.0.0.1" : address.host
        return ProxyAddress(host: host, port: address.port, isSecure: isSecure)
    }

    /// The URL for TLS listeners, else the address.
    var description: String { (isSecure ? "https://" : "") + address.description }
}
