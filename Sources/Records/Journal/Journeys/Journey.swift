/// The result of a login.
public enum JourneyOutcome: String, CaseIterable, Sendable {
    /// AM waits for the next call.
    case running
    /// It continues through a mailed link.
    case suspended
    /// AM's time limit has passed without a call.
    case abandoned
    case succeeded, failed
    /// Too little of AM's response is stored.
    case unknown
}

/// The calls of one login in sequence: AM's callbacks, the end, the tokens obtained, and their use.
public struct Journey: Sendable {
    /// The first known flow.
    public let first: PackedFlow
    /// The calls to the authenticate endpoint by time; empty if the login itself is unknown.
    public private(set) var steps: [JourneyStep] = []
    /// The later calls to AM.
    public private(set) var calls: [JourneyCall] = []
    public private(set) var tokens: [JourneyToken] = []
    public private(set) var resources: [JourneyResource] = []
    /// The counts beyond the limits of each list.
    public private(set) var more = Surplus()
    /// True if the flows before `first` are not in the journal.
    public let lacksBeginning: Bool
    /// The session at the start, for an upgrade.
    public internal(set) var origin: Kinship?
    /// The journeys that upgraded this journey's session.
    public private(set) var successors: [FlowID] = []
    /// The flow that ended the session.
    public private(set) var end: PackedFlow?
    private var state: JourneyOutcome
    private var isRefused = false

    /// A session, and the journey that obtained it if known.
    public struct Kinship: Sendable {
        public let session: SecretAlias
        public let journey: FlowID?
    }

    public struct Surplus: Sendable {
        public internal(set) var steps = 0
        public internal(set) var calls = 0
        public internal(set) var tokens = 0
        /// Requests to origins beyond the limit.
        public internal(set) var requests = 0
    }

    static let mostSteps = 100
    static let mostCalls = 100
    static let mostTokens = 100
    static let mostResources = 32
    private static let mostSuccessors = 16
    /// AM's usual time limit for the next call of a login, in milliseconds.
    public static let patience = 300_000

    init(_ first: PackedFlow, lacksBeginning: Bool) {
        self.first = first
        self.lacksBeginning = lacksBeginning
        state = .unknown
    }

    public var id: FlowID { FlowID(first.id) }
    /// Milliseconds since 1970.
    public var began: Int { first[.began] }

    /// Milliseconds from the first to the last call of the login, as far as known.
    public var duration: Int { max(0, (steps.last?.end ?? (calls.last?.flow).map(Self.end) ?? began) - began) }

    /// The part of the duration that AM took, in milliseconds.
    public var atServer: Int { steps.reduce(0) { $0 + $1.atServer } }

    /// The part of the duration between the calls, in milliseconds.
    public var pauses: Int { steps.reduce(0) { $0 + $1.pause } }

    public var stepCount: Int { steps.count + more.steps }

    /// The session that it obtained or continued.
    public var session: SecretAlias? { tokens.first { $0.kind == .session }?.alias }

    /// The flow that Usher ran it for; nil if an app ran it.
    public var parent: FlowID? {
        first[.parent] == 0 ? nil : FlowID(UInt64(bitPattern: Int64(first[.parent])))
    }

    /// - Parameter now: milliseconds since 1970.
    public func outcome(at now: Int) -> JourneyOutcome {
        guard state == .running, let last = steps.last, now - last.end > Self.patience else { return state }
        return .abandoned
    }

    /// AM's reason for a failure.
    public var reason: String? {
        if isRefused { return "AM did not approve the transaction" }
        return state == .failed ? steps.last?.reason : nil
    }

    // MARK: the login

    /// The callbacks of a step with the answers of the next call.
    public func callbacks(of index: Int) -> [AskedCallback] {
        guard steps.indices.contains(index), let message = JourneyStep.answer(steps[index].flow) else { return [] }
        return AskedCallback.all(of: message.body, answeredBy: next(behind: index)?.body)
    }

    private func next(behind index: Int) -> FlowMessage? {
        guard let given = steps[index].given else { return nil }
        return steps[(index + 1)...].first { $0.sent == given }.flatMap { JourneyStep.request($0.flow) }
    }

    private static let names = ["NameCallback", "ValidatedCreateUsernameCallback"]

    /// The user name from the first name callback or the zero-page-login field; nil if neither is known.
    public var login: String? {
        for index in steps.indices {
            let named = callbacks(of: index).first { Self.names.contains($0.type) && $0.answer != nil }
            if let named { return named.answer }
        }
        return steps.first.flatMap { FieldLines($0.flow[.request]).text("x-openam-username") }
    }

    // MARK: adding calls

    mutating func add(_ trace: JourneyTrace, isRepeated: Bool) {
        let step = JourneyStep(
            flow: trace.flow, ending: trace.ending, isRepeated: isRepeated,
            pause: steps.last.map { max(0, trace.flow[.began] - $0.end) } ?? 0,
            sent: trace.sentAuthId, given: trace.givenAuthId)
        if steps.count < Self.mostSteps {
            steps.append(step)
        } else {
            // keep the last step, which shows the result
            steps[Self.mostSteps - 1] = step
            more.steps += 1
        }
        finish(by: trace.ending)
    }

    mutating func add(_ call: JourneyCall) {
        if calls.count < Self.mostCalls { calls.append(call) } else { more.calls += 1 }
        guard steps.isEmpty, !call.won.isEmpty else { return }
        // a token proves a login, wherever it took place
        finish(by: .succeeds)
    }

    /// Updates the state. A success is final, whatever the app sends later.
    private mutating func finish(by ending: JourneyEnding) {
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

    /// Records that AM did not approve the transaction.
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

    /// True while it waits for a mailed link.
    var isSuspended: Bool { state == .suspended }

    private static func end(_ flow: PackedFlow) -> Int { flow[.began] + max(0, flow[.duration]) }
}
