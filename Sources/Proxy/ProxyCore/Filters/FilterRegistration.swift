import Authorization
import HTTPCodec
import Interception

/// Decides which requests get a filter. Every filter has a line in `all`.
struct FilterRegistration: Sendable {
    /// The point in a request at which the decision is made.
    enum Point {
        /// The request's head is here.
        case head
        /// The Action is known, and the part of the body to keep is here.
        case classified
    }

    /// All filters, in the order in which they see a message.
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
    /// The configuration uses this filter.
    let isConfigured: @Sendable (Settings) -> Bool
    /// The bytes of the request's body to keep, as far as the head tells, for a filter that is added later.
    let need: (@Sendable (FilterSetup) -> Int)?
    /// Adds the filter if the request gets one.
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

/// A request during the choice of its filters.
struct FilterSetup {
    let engine: Engine
    /// The request as the client sent it.
    let request: RequestHead
    let framing: BodyFraming
    /// The Action, as far as it is known.
    let step: Classifier.Step
    /// The Action as session filters see it: LOGOUT also for a request that may be one.
    let watched: Classification?
    /// The way in which the request may end a session, though its Action is none of AM's.
    let sessionEnd: Classifier.SessionEnd?
    let body: EditedBody.Arrival
    /// The entry of `authorization` that covers the request.
    let covered: CoveredResource?
    /// The exchange as the interceptors see it.
    var edits: EditContext

    private(set) var filters: [any Filter] = []
    /// The bytes of the body to keep.
    private(set) var keep = 0
    /// The policy by which AM is asked before the request goes out.
    private(set) var enforcing: AuthorizationPolicy?
    var notes: [LogEvent] = []

    /// The setup with the filters that register for the request.
    consuming func added(by registrations: [FilterRegistration], at point: FilterRegistration.Point) -> FilterSetup {
        var setup = self
        for registration in registrations {
            if registration.point == point {
                registration.add(&setup)
            } else if point == .head, let need = registration.need {
                setup.keep(need(setup))
            }
        }
        return setup
    }

    /// The Action; nil if it is unknown or there is none.
    var action: Action? { if case .done(let found) = step { found.action } else { nil } }

    /// - Parameter bytes: how much of the request's body the filter needs.
    mutating func add(_ filter: any Filter, keeping bytes: Int = 0) {
        filters.append(filter)
        keep(bytes)
    }

    mutating func keep(_ bytes: Int) { keep = max(keep, bytes) }

    /// Has AM asked for a decision before the request goes out.
    mutating func enforce(_ policy: AuthorizationPolicy) { enforcing = policy }
}
