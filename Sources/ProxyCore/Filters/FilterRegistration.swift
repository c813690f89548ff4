import Authorization
import HTTPCodec
import Interception

/// Says which requests get a filter. Every filter has a line in `all`.
struct FilterRegistration: Sendable {
    /// When it is known whether a request gets one.
    enum Point {
        /// The request's head is here.
        case head
        /// It is known what the request means, and of its body all that is kept is here.
        case classified
    }

    /// The filters, in the order in which they see a message.
    static let all: [FilterRegistration] = [
        StepUpFilter.registration,
        SessionFilter.registration,
        EnforcementFilter.registration,
        AdviceTranslator.registration,
        TokenFilter.registration,
        SessionEndWatch.registration,
        TokenWatch.registration,
        SessionWatch.registration,
        DeviceWatch.registration,
        RuleLogin.registration,
    ]

    let point: Point
    /// Whether a configuration has use for it.
    let isConfigured: @Sendable (Settings) -> Bool
    /// How many bytes of the request's body have to be kept, as far as the head tells, for a filter that is added later.
    let need: (@Sendable (FilterSetup) -> Int)?
    /// Adds the filter to those of a request that gets one.
    let add: @Sendable (inout FilterSetup) -> Void

    init(
        _ point: Point, where isConfigured: @escaping @Sendable (Settings) -> Bool,
        need: (@Sendable (FilterSetup) -> Int)? = nil, add: @escaping @Sendable (inout FilterSetup) -> Void
    ) {
        self.point = point
        self.isConfigured = isConfigured
        self.need = need
        self.add = add
    }
}

/// A request whose filters are being chosen.
struct FilterSetup {
    let engine: Engine
    /// As the client sent it.
    let request: RequestHead
    let framing: BodyFraming
    /// Which Action it is, as far as that is known.
    let step: Classifier.Step
    /// What it is to those who keep something for sessions: LOGOUT also where it may be one.
    let watched: Classification?
    /// How it may end a session, though it is no Action that does.
    let sessionEnd: Classifier.SessionEnd?
    let body: EditedBody.Arrival
    /// The entry of `authorization` that the request is covered by.
    let covered: CoveredResource?
    /// What interceptors know of the exchange.
    var edits: EditContext

    private(set) var filters: [any Filter] = []
    /// How many bytes of the body have to be kept.
    private(set) var keep = 0
    /// By what AM is asked before the request goes out.
    private(set) var enforcing: AuthorizationPolicy?
    var notes: [ExchangeMoment] = []

    init(
        _ engine: Engine, _ request: RequestHead, _ framing: BodyFraming, _ step: Classifier.Step,
        watched: Classification?, sessionEnd: Classifier.SessionEnd?, body: EditedBody.Arrival,
        _ covered: CoveredResource?, _ edits: EditContext
    ) {
        self.engine = engine
        self.request = request
        self.framing = framing
        self.step = step
        self.watched = watched
        self.sessionEnd = sessionEnd
        self.body = body
        self.covered = covered
        self.edits = edits
    }

    /// The Action; nil where it is not known, or there is none.
    var action: Action? { if case .done(let found) = step { found.action } else { nil } }

    /// - Parameter bytes: of the request's body that it needs.
    mutating func add(_ filter: any Filter, keeping bytes: Int = 0) {
        filters.append(filter)
        keep(bytes)
    }

    mutating func keep(_ bytes: Int) { keep = max(keep, bytes) }

    /// AM is asked before the request goes out.
    mutating func enforce(_ policy: AuthorizationPolicy) { enforcing = policy }
}
