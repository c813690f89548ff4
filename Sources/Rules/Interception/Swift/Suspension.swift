/// A phase that waits for an interceptor: the call, and the position at which to continue.
public final class Suspension: Sendable {
    public let call: SwiftCall
    /// The position of the rule in the plan, and of the edit in its list.
    let rule: Int
    let place: Int
    /// The bodies of the phase so far.
    let bodies: SubjectBodies
    /// Whether the response arrived with a body.
    let cameWithBody: Bool

    init(
        _ call: SwiftCall, rule: Int, place: Int, bodies: SubjectBodies = SubjectBodies(), cameWithBody: Bool = false
    ) {
        self.call = call
        self.rule = rule
        self.place = place
        self.bodies = bodies
        self.cameWithBody = cameWithBody
    }

    func keeping(_ bodies: SubjectBodies, cameWithBody: Bool = false) -> Suspension {
        Suspension(call, rule: rule, place: place, bodies: bodies, cameWithBody: cameWithBody)
    }
}

extension Suspension: Equatable {
    public static func == (left: Suspension, right: Suspension) -> Bool { left === right }
}

/// The result with which a waiting phase continues.
struct Resumption {
    let suspension: Suspension
    let answer: SwiftAnswer
}

extension Outcome {
    /// Stores the bodies of a phase that waits.
    mutating func keep(_ bodies: SubjectBodies, cameWithBody: Bool = false) {
        guard case .suspend(let suspension) = verdict else { return }
        verdict = .suspend(suspension.keeping(bodies, cameWithBody: cameWithBody))
    }
}
