/// A client's stream on which no HTTP is spoken any more: what comes from either side goes to the other as it is.
struct StreamTunnel {
    enum Kind: Equatable {
        /// What an exchange switched to (RFC 8441).
        case switched
        /// CONNECT (RFC 9113 §8.5): a connection of its own is in there, which answers it and is what is recorded.
        case carried(isAnswered: Bool)
    }

    var kind: Kind
    var clientHasEnded = false
    /// When it is over, where nothing more passes through it.
    var deadline: Int

    var isCarried: Bool { kind != .switched }
    var awaitsAnswer: Bool { kind == .carried(isAnswered: false) }
}
