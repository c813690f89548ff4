/// A client's stream that carries a tunnel: bytes are relayed both ways unchanged.
struct StreamTunnel {
    enum Kind: Equatable {
        /// The protocol that an exchange switched to (RFC 8441).
        case switched
        /// CONNECT (RFC 9113 §8.5): a child connection responds to it and records it.
        case carried(isAnswered: Bool)
    }

    var kind: Kind
    var clientHasEnded = false
    /// The time at which the tunnel ends if it stays idle.
    var deadline: Int

    var isCarried: Bool { kind != .switched }
    var awaitsAnswer: Bool { kind == .carried(isAnswered: false) }
}
