/// The result of a condition.
public enum Judgement: Comparable, Sendable {
    case no
    /// Undecided: it depends on a body or response that has not arrived, or is not looked at.
    case open
    case yes

    public init(_ holds: Bool) { self = holds ? .yes : .no }

    public var opposite: Judgement {
        switch self {
        case .no: .yes
        case .open: .open
        case .yes: .no
        }
    }
}

extension CompiledCondition {
    /// Whether any part reads a body.
    var asksBodies: Bool { asksBody(of: .request) || asksBody(of: .response) }

    func asksBody(of side: MessageSide) -> Bool {
        switch self {
        case .always, .test: false
        case .all(let parts), .any(let parts): parts.contains { $0.asksBody(of: side) }
        case .not(let part): part.asksBody(of: side)
        case .body(let test): test.side == side
        }
    }

    /// The condition without its body tests, which count in favour of the result. It holds whenever the full condition may hold.
    func withoutBodies(inFavour: Bool = true) -> CompiledCondition {
        switch self {
        case .always, .test: self
        case .all(let parts): .all(parts.map { $0.withoutBodies(inFavour: inFavour) })
        case .any(let parts): .any(parts.map { $0.withoutBodies(inFavour: inFavour) })
        case .not(let part): .not(part.withoutBodies(inFavour: !inFavour))
        case .body: inFavour ? .always : .any([])
        }
    }

    func judge(_ subject: Subject, _ bodies: inout SubjectBodies) -> Judgement {
        switch self {
        case .always: return .yes
        case .all(let parts):
            var all = Judgement.yes
            for part in parts where all != .no { all = min(all, part.judge(subject, &bodies)) }
            return all
        case .any(let parts):
            var any = Judgement.no
            for part in parts where any != .yes { any = max(any, part.judge(subject, &bodies)) }
            return any
        case .not(let part): return part.judge(subject, &bodies).opposite
        case .test(let test):
            if subject.isEarly, test.key.needsResponse || test.key.needsError { return .open }
            return Judgement(test.holds(for: subject))
        case .body(let test): return test.judge(subject, &bodies)
        }
    }

    /// Whether the result may depend on a body that is not available.
    func needsBody(of side: MessageSide, _ subject: Subject, _ bodies: inout SubjectBodies) -> Bool {
        switch self {
        case .always, .test: return false
        case .body(let test): return test.side == side && test.judge(subject, &bodies) == .open
        case .not(let part): return part.needsBody(of: side, subject, &bodies)
        case .all(let parts), .any(let parts):
            guard asksBody(of: side), judge(subject, &bodies) == .open else { return false }
            return parts.contains { $0.needsBody(of: side, subject, &bodies) }
        }
    }
}
