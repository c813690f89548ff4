/// How a login went.
public enum JourneyOutcome: String, CaseIterable, Sendable {
    /// AM waits for the next call.
    case running
    /// It goes on by a link that was mailed.
    case suspended
    /// AM waited for longer than it does.
    case abandoned
    case succeeded, failed
    /// Of what AM said too little is kept.
    case unknown
}

/// The calls of one login as one story: what AM asked, how it ended, what was won, and what that was used for.
public struct Journey: Sendable {
    /// The flow that it began with, as far as it is known.
    public let first: PackedFlow
    /// The calls to the authenticate endpoint, in the order of time; none where the login itself is not known.
    public private(set) var steps: [JourneyStep] = []
    /// What followed at AM's endpoints.
    public private(set) var calls: [JourneyCall] = []
    public private(set) var tokens: [JourneyToken] = []
    public private(set) var resources: [JourneyResource] = []
    /// What there was more of each than is kept here.
    public private(set) var more = Surplus()
    /// What came before `first` is not in the journal.
    public let lacksBeginning: Bool
    /// The session that it began with, which an upgrade is of.
    public internal(set) var origin: Kinship?
    /// The journeys that upgraded the session that this one won.
    public private(set) var successors: [FlowID] = []
    /// The flow that gave the session up.
    public private(set) var end: PackedFlow?
    private var state: JourneyOutcome
    private var isRefused = false

    /// A session, and the journey that won it where that is known.
    public struct Kinship: Sendable {
        public let session: SecretAlias
        public let journey: FlowID?
    }

    public struct Surplus: Sendable {
        public internal(set) var steps = 0
        public internal(set) var calls = 0
        public internal(set) var tokens = 0
        /// Requests to origins beyond those that are told.
        public internal(set) var requests = 0
    }

    static let mostSteps = 100
    static let mostCalls = 100
    static let mostTokens = 100
    static let mostResources = 32
    private static let mostSuccessors = 16
    /// Milliseconds after which AM knows a login no more that nobody goes on with, as it is set up usually.
    public static let patience = 300_000

    init(_ first: PackedFlow, lacksBeginning: Bool) {
        self.first = first
        self.lacksBeginning = lacksBeginning
        state = .unknown
    }

    public var id: FlowID { FlowID(first.id) }
    /// Milliseconds since 1970.
    public var began: Int { first[.began] }

    /// Milliseconds from the first call to the last one of the login, or of what is known of it.
    public var duration: Int { max(0, (steps.last?.end ?? (calls.last?.flow).map(Self.end) ?? began) - began) }

    /// Milliseconds of it that AM took.
    public var atServer: Int { steps.reduce(0) { $0 + $1.atServer } }

    /// Milliseconds of it between the calls.
    public var pauses: Int { steps.reduce(0) { $0 + $1.pause } }

    public var stepCount: Int { steps.count + more.steps }

    /// The session that it won, or went on with.
    public var session: SecretAlias? { tokens.first { $0.kind == .session }?.alias }

    /// The flow that Usher ran it for; nil where an app ran it.
    public var parent: FlowID? {
        first[.parent] == 0 ? nil : FlowID(UInt64(bitPattern: Int64(first[.parent])))
    }

    /// - Parameter now: milliseconds since 1970.
    public func outcome(at now: Int) -> JourneyOutcome {
        guard state == .running, let last = steps.last, now - last.end > Self.patience else { return state }
        return .abandoned
    }

    /// Why it failed, in AM's words.
    public var reason: String? {
        if isRefused { return "AM did not approve the transaction" }
        return state == .failed ? steps.last?.reason : nil
    }

    // MARK: the login

    /// What AM asked in a step, and what the call that followed it filled in.
    public func callbacks(of index: Int) -> [AskedCallback] {
        guard steps.indices.contains(index), let message = JourneyStep.answer(steps[index].flow) else { return [] }
        return AskedCallback.all(of: message.body, answeredBy: next(behind: index)?.body)
    }

    private func next(behind index: Int) -> FlowMessage? {
        guard let given = steps[index].given else { return nil }
        return steps[(index + 1)...].first { $0.sent == given }.flatMap { JourneyStep.request($0.flow) }
    }

    private static let names = ["NameCallback", "ValidatedCreateUsernameCallback"]

    /// Who signs in, as was filled in first; nil where nobody was asked.
    public var login: String? {
        for index in steps.indices {
            let named = callbacks(of: index).first { Self.names.contains($0.type) && $0.answer != nil }
            if let named { return named.answer }
        }
        return steps.first.flatMap { FieldLines($0.flow[.request]).text("x-openam-username") }
    }

    // MARK: what comes

    mutating func add(_ trace: JourneyTrace, isRepeated: Bool) {
        let step = JourneyStep(
            flow: trace.flow, ending: trace.ending, isRepeated: isRepeated,
            pause: steps.last.map { max(0, trace.flow[.began] - $0.end) } ?? 0,
            sent: trace.sentAuthId, given: trace.givenAuthId)
        if steps.count < Self.mostSteps {
            steps.append(step)
        } else {
            // the last one tells how it went
            steps[Self.mostSteps - 1] = step
            more.steps += 1
        }
        settle(by: trace.ending)
    }

    mutating func add(_ call: JourneyCall) {
        if calls.count < Self.mostCalls { calls.append(call) } else { more.calls += 1 }
        guard steps.isEmpty, !call.won.isEmpty else { return }
        // whoever has that was let in, wherever that was
        settle(by: .succeeds)
    }

    /// What was won stays won, whatever an app sends once more.
    private mutating func settle(by ending: JourneyEnding) {
        guard state != .succeeded else { return }
        state =
            switch ending {
            case .asks: .running
            case .suspends: .suspended
            case .succeeds: .succeeded
            case .refuses, .fails: .failed
            case .unread: .unknown
            }
    }

    /// AM did not approve the transaction that it was for.
    mutating func refuse() {
        guard state == .succeeded else { return }
        state = .failed
        isRefused = true
    }

    mutating func add(_ token: JourneyToken) {
        guard !tokens.contains(where: { $0.alias == token.alias }) else { return }
        if tokens.count < Self.mostTokens { tokens.append(token) } else { more.tokens += 1 }
    }

    mutating func use(_ flow: PackedFlow) {
        if let index = resources.firstIndex(where: { $0.isOf(flow) }) {
            resources[index].add(flow)
        } else if resources.count < Self.mostResources {
            resources.append(JourneyResource(flow))
        } else {
            more.requests += 1
        }
    }

    mutating func succeed(by journey: FlowID) {
        if successors.count < Self.mostSuccessors { successors.append(journey) }
    }

    mutating func end(by flow: PackedFlow) { end = end ?? flow }

    /// It waits for a link that was mailed.
    var isSuspended: Bool { state == .suspended }

    private static func end(_ flow: PackedFlow) -> Int { flow[.began] + max(0, flow[.duration]) }
}
