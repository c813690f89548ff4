internal import Formats
internal import HTTPCodec

/// A test of a value in a body. A body that cannot be read has no values.
final class BodyTest: Sendable {
    let key: Condition.Key
    let side: MessageSide
    private let matchers: [ValueMatcher]
    /// Kept apart, because patterns may be slow on long text.
    private let patterns: [ValueMatcher]

    /// The number of bytes of one body on which patterns are tried: the same as for a head.
    static let patternBytes = 32 << 10
    /// The number of values of one name on which patterns are tried.
    static let patternValues = 32

    init(_ key: Condition.Key, _ side: MessageSide, _ matchers: [TextMatcher]) {
        self.key = key
        self.side = side
        let all = matchers.map { ValueMatcher($0) }
        self.matchers = all.filter { !$0.isPattern }
        patterns = all.filter(\.isPattern)
    }

    func judge(_ subject: Subject, _ bodies: inout SubjectBodies) -> Judgement {
        switch side {
        case .request:
            let type = subject.request.fields["Content-Type"]
            return concerns(type) ? judge(&bodies.request, type, &bodies.fault) : .no
        case .response:
            // a response that has not arrived may have any type
            guard let response = subject.response else { return subject.isEarly ? .open : .no }
            let type = response.fields["Content-Type"]
            return concerns(type) ? judge(&bodies.response, type, &bodies.fault) : .no
        }
    }

    /// Whether a body of this type may have such values; if not, it need not be buffered.
    private func concerns(_ type: String?) -> Bool {
        let type = type.flatMap { MediaType($0) }
        if case .form = key { return FormEdit.concerns(type) }
        return JSONEdit.concerns(type)
    }

    private func judge(_ body: inout EditedBody?, _ type: String?, _ fault: inout String?) -> Judgement {
        guard let values = values(in: &body, type, &fault) else { return .open }
        if values.contains(where: { value in matchers.contains { $0.accepts(value) } }) { return .yes }
        let texts = patterns.isEmpty ? [] : values.compactMap(\.scalar)
        guard texts.count <= Self.patternValues, texts.reduce(0, { $0 + $1.utf8.count }) <= Self.patternBytes else {
            fault = "\(key.name) has more than the \(Self.patternBytes >> 10) KiB that patterns are tried on"
            return .no
        }
        return texts.contains { text in patterns.contains { $0.accepts(text) } } ? .yes : .no
    }

    /// The values present; nil if the body is not available.
    private func values(in body: inout EditedBody?, _ type: String?, _ fault: inout String?) -> [JSONValue]? {
        guard var found = body else { return nil }
        // moved rather than copied, so that cached reads survive
        body = nil
        defer { body = found }
        // an edit of the head may have changed the type
        found.contentType = type
        do throws(BodyFault) {
            switch key {
            case .json(let pointer), .responseJSON(let pointer): return try found.values(at: pointer)
            case .form(let name): return try found.fields(named: name).map { .string($0) }
            default: return []
            }
        } catch {
            fault = "\(key.name) finds nothing in the body, which \(error.explanation)"
            return []
        }
    }

    /// Whether the condition holds, and the reason. Bodies may hold secrets, so no value is shown.
    func explain(_ subject: Subject, _ bodies: inout SubjectBodies) -> (holds: Bool, because: String) {
        bodies.fault = nil
        let judgement = judge(subject, &bodies)
        if let fault = bodies.fault { return (false, fault) }
        guard judgement != .open else { return (false, "the body that \(key.name) looks at is not here") }
        let isThere = BodyTest(key, side, [.glob("*")]).judge(subject, &bodies) == .yes
        bodies.fault = nil
        guard isThere else { return (false, "there is no \(key.name)") }
        return (judgement == .yes, "\(key.name) is there and \(judgement == .yes ? "fits" : "does not fit")")
    }
}
