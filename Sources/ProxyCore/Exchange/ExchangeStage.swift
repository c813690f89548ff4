import Authorization
import HTTPCodec
import Interception

/// The stages of an exchange and the legal transitions.
extension Exchange {
    /// Large payloads are indirect: stages change often, and few carry one.
    enum Stage {
        /// The head of the request is being read.
        case reading
        /// The request is here, and its password is being checked.
        case authenticating
        /// The body is kept before the request goes out: it must be read, or may have to be sent again.
        case collecting
        /// The exchange waits for a connection to the origin.
        case leasing(LeaseStep)
        /// The request is on its way, and no final head of a response is here.
        case awaiting
        /// The response goes to the client as it comes.
        case delivering
        /// The response is held until filters and interceptors have decided.
        indirect case holding(HeldResponse)
        /// The response is here whole and the origin's connection given back; filters decide on it.
        case deciding
        /// A filter's call is under way; it ends by this time.
        case calling(until: Int)
        /// The exchange waits, and then resumes.
        case waiting(Resumption)
        /// External code works on a message, off the loop.
        case intercepting(SuspendedPhase)
        /// The response goes to the client delayed or slowed.
        case pacing(PacedResponse)
        /// CONNECT or another protocol: raw bytes are relayed.
        case tunnelling
        case over(Ending)
    }

    /// The action that follows a wait.
    enum Resumption {
        /// A filter asked for the wait and is told. The ticket names the other exchange that it waits for.
        case filter(WaitingTicket?)
        /// An interceptor delayed the request: send it.
        case send
        /// An interceptor delayed its own response to the request: send that.
        indirect case answer(DirectResponse, interceptor: String)
        /// An interceptor delayed a fault in place of the response: break the connection.
        indirect case breaks(Breakage, interceptor: String)
        /// The request's turn at a limit: continue.
        case turn(LimitPassage)
        /// Retry the request, from the client's request or a filter's version of it.
        case attempt
        /// An interceptor delayed the result of a call: deliver it.
        indirect case called(HeldResponse)
    }

    enum Ending {
        /// The client has the complete response.
        case complete
        /// The response is incomplete; with a reset when the client must not take the part for the whole.
        case cut(reset: Bool)
        /// The client gets no more, and its connection closes.
        case closed
        /// The result of a call.
        indirect case called(HeldResponse)
        indirect case notCalled(String)
    }
}

extension Exchange.Stage {
    /// A stage without its payload.
    enum Kind: Int, CaseIterable {
        case reading, authenticating, collecting, leasing, awaiting, delivering, holding, deciding, calling, waiting
        case intercepting, pacing, tunnelling, over
    }

    var kind: Kind {
        switch self {
        case .reading: .reading
        case .authenticating: .authenticating
        case .collecting: .collecting
        case .leasing: .leasing
        case .awaiting: .awaiting
        case .delivering: .delivering
        case .holding: .holding
        case .deciding: .deciding
        case .calling: .calling
        case .waiting: .waiting
        case .intercepting: .intercepting
        case .pacing: .pacing
        case .tunnelling: .tunnelling
        case .over: .over
        }
    }
}

extension Exchange.Stage.Kind {
    /// The legal next stages. Debug builds, including the tests, stop at any other.
    var next: Set<Exchange.Stage.Kind> {
        switch self {
        case .reading: Self.begun.union([.authenticating, .collecting, .tunnelling])
        case .authenticating: Self.begun.union([.collecting, .tunnelling])
        case .collecting: Self.begun
        case .leasing: Self.begun.union([.awaiting])
        case .awaiting: Self.begun.union([.delivering, .holding, .tunnelling])
        // holding: body bytes are added to the held response
        case .holding: Self.begun.union([.awaiting, .delivering])
        case .deciding, .calling, .waiting, .intercepting: Self.begun
        case .delivering: [.waiting, .pacing, .over]
        // until the client has a byte of it, an interceptor's error phase may replace the response
        case .pacing: [.delivering, .waiting, .pacing, .over]
        case .tunnelling: [.tunnelling, .over]
        // the cell is reused for the next exchange
        case .over: [.over, .reading]
        }
    }

    /// The stages open to a request before the client has any byte of a response: it goes to an origin, a filter or an
    /// interceptor delays it, or Usher responds.
    private static let begun: Set<Self> = [.leasing, .deciding, .calling, .waiting, .intercepting, .pacing, .over]

    func mayBecome(_ other: Self) -> Bool { next.contains(other) }
}
