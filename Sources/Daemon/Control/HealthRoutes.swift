internal import Formats

/// The phase of the daemon.
public enum ServicePhase: String, CaseIterable, Sendable { case starting, serving, draining }

/// Health routes for monitoring: liveness and readiness.
public struct HealthRoutes {
    private let phase: () -> ServicePhase

    public init(_ phase: @escaping () -> ServicePhase) { self.phase = phase }

    public var all: [ControlRoute] { [live, ready] }

    private static let shape = ControlShape.object(["state": .choice(ServicePhase.allCases.map(\.rawValue))])

    private var answer: ControlAnswer {
        ControlAnswer(["state": .string(phase().rawValue)])
    }

    private var live: ControlRoute {
        return ControlRoute(
            "GET", "/live", "live", "Tells whether the daemon runs.", answers: [RouteAnswer("It does.", Self.shape)],
            isOpen: true
        ) { _ throws(ControlProblem) in .now(answer) }
    }

    private var ready: ControlRoute {
        return ControlRoute(
            "GET", "/ready", "ready", "Tells whether the daemon accepts requests.",
            answers: [RouteAnswer("It does.", Self.shape)],
            problems: [503: "The daemon is starting or draining."], isOpen: true
        ) { _ throws(ControlProblem) in
            guard phase() == .serving else {
                throw ControlProblem(503, "the daemon is \(phase().rawValue)")
            }
            return .now(answer)
        }
    }
}
