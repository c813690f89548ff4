import Authorization
import HTTPCodec
import Interception

/// Where an exchange is, and where it may go from there.
extension Exchange {
    /// Large payloads stand beside it: it is entered often, and hardly ever with one.
    enum Stage {
        /// Its head is being read.
        case reading
        /// The request is here, and the password that came with it is being checked.
        case authenticating
        /// The body is kept before the request goes out: something needs to see it, or it may have to be sent again.
        case collecting
        /// A connection to the origin is wanted.
        case leasing(LeaseStep)
        /// The request is on its way, and no final head of an answer is here.
        case awaiting
        /// The answer goes to the client as it comes.
        case delivering
        /// The answer is kept until it is clear what becomes of it.
        indirect case holding(HeldResponse)
        /// The answer is here whole, and the origin's connection given back: what becomes of it is being decided.
        case deciding
        /// A filter's call is under way; it ends no later than this.
        case calling(until: Int)
        /// It waits, for this to be done then.
        case waiting(Resumption)
        /// Code of others works on a message, off the loop.
        case intercepting(SuspendedPhase)
        /// The answer goes to the client later than it comes, or slower.
        case pacing(PacedResponse)
        /// CONNECT, or another protocol: what is relayed is no message.
        case tunnelling
        case over(Ending)
    }

    /// What is done when a wait is over.
    enum Resumption {
        /// A filter said so, and is told. Where somebody else's end is waited for, by this ticket.
        case filter(FlightTicket?)
        /// An interceptor had the request wait: it goes out.
        case send
        /// An interceptor had it wait that is answered here.
        indirect case answer(DirectResponse, interceptor: String)
        /// An interceptor had it wait whose client gets no answer.
        indirect case breaks(Breakage, interceptor: String)
        /// Its turn at a limit: it goes on.
        case turn(LimitPassage)
        /// The request is sent again, from what the client sent, or from what a filter made of that.
        case attempt
        /// An interceptor had what a call came to wait.
        indirect case called(HeldResponse)
    }

    enum Ending {
        /// The client has its answer whole.
        case complete
        /// It cannot have it whole; with a reset where it must not take what it has for that.
        case cut(reset: Bool)
        /// It gets no more than it has, and no more on its connection.
        case closed
        /// What a call came to.
        indirect case called(HeldResponse)
        indirect case notCalled(String)
    }
}

extension Exchange.Stage {
    /// A stage without what belongs to it.
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
    /// The stages that may follow. Debug builds, in which the tests run, stop at any other.
    var next: Set<Exchange.Stage.Kind> {
        switch self {
        case .reading: Self.begun.union([.authenticating, .collecting, .tunnelling])
        case .authenticating: Self.begun.union([.collecting, .tunnelling])
        case .collecting: Self.begun
        case .leasing: Self.begun.union([.awaiting])
        case .awaiting: Self.begun.union([.delivering, .holding, .tunnelling])
        // holding: more of the body is put to what is held
        case .holding: Self.begun.union([.awaiting, .delivering])
        case .deciding, .calling, .waiting, .intercepting: Self.begun
        case .delivering: [.waiting, .pacing, .over]
        // while its client has nothing of it yet, an interceptor of errors may take its place
        case .pacing: [.delivering, .waiting, .pacing, .over]
        case .tunnelling: [.tunnelling, .over]
        // its place is lent to the next
        case .over: [.over, .reading]
        }
    }

    /// What may become of a request while its client has no byte of a response: it goes to an origin, a filter or an interceptor
    /// holds it up, or it is answered here.
    private static let begun: Set<Self> = [.leasing, .deciding, .calling, .waiting, .intercepting, .pacing, .over]

    func mayBecome(_ other: Self) -> Bool { next.contains(other) }
}
