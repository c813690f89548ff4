/// The states of a CONNECT, what happens to it, and what follows from that.
extension Tunnel {
    enum State: CaseIterable {
        /// No CONNECT is being answered.
        case none
        /// The client waits for the connection to the origin.
        case connecting
        /// CONNECT was answered; the first bytes show which protocol the tunnel carries.
        case peeking
        /// The tunnel is relayed as soon as its connection stands.
        case joining
        /// The client's TLS handshake is under way.
        case securing

        /// The legal next states. Debug builds, including the tests, stop at any other.
        var next: Set<State> {
            switch self {
            case .none: [.connecting]
            case .connecting: [.peeking, .none]
            case .peeking: [.joining, .securing, .none]
            case .joining, .securing: [.none]
            }
        }
    }

    /// An event without bytes.
    enum Event {
        /// The connection to the origin stands.
        case connected
        /// The destination is reachable, without a connection of the tunnel's own.
        case reachable
        /// The driver could not connect to the origin.
        case failed(LeaseFailure)
        /// The origin sends no more.
        case originEnded(cleanly: Bool)
        /// The client sends no more.
        case clientEnded(inStream: Bool)
        /// The deadline has come.
        case timedOut
        /// Another generation of the configuration is in force, and nothing has passed through the tunnel yet.
        case adopted
    }

    /// What the client's connection has to do.
    enum Action {
        /// Wait for the next event, at most until the deadline.
        case wait
        /// Answer CONNECT. The client's next bytes are the tunnel's first.
        case answer
        /// Answer CONNECT with the error.
        case refuse(ProxyError)
        /// Read requests inside the tunnel, which carries HTTP to this target.
        case serve(Origin)
        /// Wait for the client's TLS handshake, which was ordered.
        case secure
        /// Relay the tunnel unread, beginning with these bytes of the origin.
        case relay([UInt8])
        /// Refuse the ClientHello, for this reason.
        case refuseHello(String)
        /// The client did not finish its ClientHello in time.
        case giveUpHello
        case close(reset: Bool)
    }
}
