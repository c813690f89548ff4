import EventLoop

/// Where the proxy listens, with the port that it got.
struct ListeningAddress: Sendable, CustomStringConvertible {
    let address: SocketAddress
    /// Clients speak TLS there.
    let isSecure: Bool

    /// As clients write it where they speak TLS, else the address alone.
    var description: String { (isSecure ? "https://" : "") + address.description }
}
