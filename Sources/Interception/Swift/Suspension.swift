/// A phase that waits for an interceptor: what works on its message, and where it goes on.
public final class Suspension: Sendable {
    public let call: SwiftCall
    /// The place of the rule among all, and that of the edit in its list.
    let rule: Int
    let place: Int
    /// What the phase has of bodies so far.
    let bodies: SubjectBodies
    /// The response had a body when it came.
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

/// What a phase goes on with that has waited.
struct Resumption {
    let suspension: Suspension
    let answer: SwiftAnswer
}

extension Outcome {
    /// Keeps what the phase has of bodies where it waits.
    mutating func keep(_ bodies: SubjectBodies, cameWithBody: Bool = false) {
        guard case .suspend(let suspension) = verdict else { return }
        verdict = .suspend(suspension.keeping(bodies, cameWithBody: cameWithBody))
    }
}
