import Authorization
import Formats
import HTTPCodec
import Interception

/// The stage of an exchange and the time by which it must end.
struct ExchangeStage: ~Copyable {
    private(set) var state = State.reading
    /// When the exchange must be woken.
    private(set) var deadline = Int.max

    mutating func enter(_ next: State) {
        assert(state.kind.mayBecome(next.kind), "an exchange may not go from \(state.kind) to \(next.kind)")
        state = next
    }

    /// Enters a stage that must end by a time.
    mutating func enter(_ next: State, until time: Int) {
        enter(next)
        deadline = time
    }

    mutating func wait(until time: Int) { deadline = time }

    // MARK: the request

    var isReading: Bool { if case .reading = state { true } else { false } }

    /// Whether a filter's wait is under way: for a time, a person, or another exchange.
    var awaitsFilter: Bool { if case .waiting(.filter) = state { true } else { false } }

    /// Whether a filter waits for this ticket.
    func awaits(_ ticket: WaitingTicket) -> Bool {
        if case .waiting(.filter(let awaited?)) = state { awaited == ticket } else { false }
    }

    /// Whether Usher works on a request whose response has not begun, so that a client that has closed its side may be gone.
    var precedesResponse: Bool {
        switch state {
        case .authenticating, .leasing, .awaiting, .deciding, .calling, .waiting, .intercepting: true
        case .reading, .collecting, .delivering, .holding, .pacing, .tunnelling, .over: false
        }
    }

    // MARK: the origin's connection

    /// Whether the exchange holds an origin's connection or waits for one.
    var isLeased: Bool {
        switch state {
        case .leasing, .awaiting, .delivering, .holding, .tunnelling: true
        case .pacing(let paced): !paced.isWhole
        case .reading, .authenticating, .collecting, .deciding, .calling, .waiting, .intercepting, .over: false
        }
    }

    /// Whether no final head of a response is here, though the request is on its way.
    var awaitsHead: Bool {
        switch state {
        case .leasing, .awaiting: true
        case .reading, .authenticating, .collecting, .delivering, .holding, .deciding, .calling, .waiting, .pacing,
            .intercepting, .tunnelling, .over:
            false
        }
    }

    /// Whether the request is out and its response is not complete.
    var awaitsResponse: Bool {
        switch state {
        case .awaiting, .delivering, .holding: true
        case .pacing(let paced): !paced.isWhole
        case .reading, .authenticating, .collecting, .leasing, .deciding, .calling, .waiting, .intercepting,
            .tunnelling, .over:
            false
        }
    }

    // MARK: the response

    /// Adds body bytes to a response that is held.
    /// - Returns: how many bytes are held and whether they fit its limit; nil when no response is held.
    mutating func hold(_ bytes: Span<UInt8>) -> (count: Int, fits: Bool)? {
        guard case .holding(var held) = state else { return nil }
        // leave the stage first, so that the array is changed without a copy
        state = .awaiting
        held.body.append(bytes)
        let (count, fits) = (held.body.count, held.body.count <= held.limit)
        state = .holding(held)
        return (count, fits)
    }

    /// Whether body bytes of the response may go to the client unread.
    var deliversRaw: Bool { if case .delivering = state { true } else { false } }
    /// Whether a paced response has queued so much that the origin is not read.
    var isPacedFull: Bool { if case .pacing(let paced) = state { paced.isFull } else { false } }

    var isTunnelling: Bool { if case .tunnelling = state { true } else { false } }
    var isOver: Bool { if case .over = state { true } else { false } }
}

extension ExchangeStage {
    /// Large payloads are indirect: stages change often, and few carry one.
    enum State {
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
        /// A filter asked for the wait and is told. The ticket names the other exchange or the person that it waits for.
        case filter(WaitingTicket?)
        /// The request phase waits for a turn at a limit or a delay: it continues.
        case request
        /// A filter's call took too long: go on without it.
        case lease
        /// An interceptor delayed what it has in a message's place.
        indirect case replace(Replacement, PhaseJudgement.Phase)
        /// Retry the request, from the client's request or a filter's version of it.
        case attempt
        /// An interceptor delayed the result of a call: deliver it.
        indirect case called(HeldResponse)

        var isFilters: Bool { if case .filter = self { true } else { false } }
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

extension ExchangeStage.State {
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

extension ExchangeStage.State.Kind {
    /// The legal next stages. Debug builds, including the tests, stop at any other.
    var next: Set<ExchangeStage.State.Kind> {
        switch self {
        case .reading: Self.begun.union([.authenticating, .collecting, .tunnelling])
        case .authenticating: Self.begun.union([.collecting, .tunnelling])
        case .collecting: Self.begun
        case .leasing: Self.begun.union([.awaiting])
        case .awaiting: Self.begun.union([.delivering, .holding, .tunnelling])
        case .holding: Self.begun.union([.delivering])
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
