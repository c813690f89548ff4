import TLSEngine

/// What a client's first bytes are to a listener that speaks TLS.
enum ListenerHello {
    /// - hasBegun: they begin a ClientHello.
    case incomplete(hasBegun: Bool)
    case whole(serverName: String?)
    /// The client speaks HTTP without TLS.
    case clearText
    /// They are neither, or break TLS; with a description.
    case refused(String)

    init(_ bytes: Span<UInt8>) {
        switch TunnelProtocol.recognise(bytes) {
        case .undecided: self = .incomplete(hasBegun: false)
        case .http, .http2, .connect: self = .clearText
        case .other:
            switch ClientHello.peek(bytes) {
            case .needsMore: self = .incomplete(hasBegun: true)
            case .hello(let hello): self = .whole(serverName: hello.serverName)
            case .notTLS: self = .refused("the client speaks neither TLS nor HTTP to a listener that speaks TLS")
            case .malformed(let words): self = .refused("the client's ClientHello breaks TLS: \(words)")
            case .tooLarge: self = .refused(Tunnel.tooLarge)
            }
        }
    }
}
