import HTTPCodec

/// The stage of a client's connection.
struct ClientStage: ~Copyable {
    enum State {
        /// A balancer's connection: the PROXY protocol header comes first.
        case preface
        /// The listener speaks TLS, and the ClientHello is missing or incomplete.
        case awaitingHello(begun: Bool)
        /// The client's TLS handshake is under way: in a tunnel, or with the listener.
        case securing
        /// HTTP: an exchange is under way, or the next request is awaited.
        case serving
        /// CONNECT: what the tunnel carries is not known yet.
        case connect
        /// A tunnel is relayed unread.
        case tunnel(ExchangeID)
        /// The last response has gone out; further bytes of the client are discarded.
        case lingering
        case closed
    }

    private(set) var state = State.serving
    /// The time by which a stage other than `serving` must end.
    private(set) var deadline = Int.max

    /// - Parameter time: the time by which the stage must end; nil to keep that of before.
    mutating func enter(_ next: State, until time: Int? = nil) {
        assert(state.kind.next.contains(next.kind), "a connection may not go from \(state.kind) to \(next.kind)")
        state = next
        if let time { deadline = time }
    }

    mutating func wait(until time: Int) { deadline = time }

    var isServing: Bool { if case .serving = state { true } else { false } }
    var isTunnel: Bool { if case .tunnel = state { true } else { false } }
    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// Whether no byte of the client is used any more.
    var isOver: Bool {
        switch state {
        case .lingering, .closed: true
        case .preface, .awaitingHello, .securing, .serving, .connect, .tunnel: false
        }
    }
}

extension ClientStage.State {
    /// A stage without its payload.
    enum Kind: CaseIterable {
        case preface, awaitingHello, securing, serving, connect, tunnel, lingering, closed

        /// The legal next stages. Debug builds, including the tests, stop at any other.
        var next: Set<Kind> {
            switch self {
            // an error is answered in HTTP where the client can read it
            case .preface: [.awaitingHello, .serving, .closed]
            case .awaitingHello: [.awaitingHello, .securing, .serving, .closed]
            case .securing: [.serving, .closed]
            // a connection begins here unless something comes before HTTP
            case .serving: [.preface, .awaitingHello, .serving, .connect, .tunnel, .lingering, .closed]
            case .connect: [.securing, .serving, .tunnel, .closed]
            case .tunnel, .lingering, .closed: [.closed]
            }
        }
    }

    var kind: Kind {
        switch self {
        case .preface: .preface
        case .awaitingHello: .awaitingHello
        case .securing: .securing
        case .serving: .serving
        case .connect: .connect
        case .tunnel: .tunnel
        case .lingering: .lingering
        case .closed: .closed
        }
    }
}
