internal import Formats
internal import HTTPCodec

/// A test of a value in a body. A body that cannot be looked through has no values.
final class BodyTest: Sendable {
    let key: Condition.Key
    let side: MessageSide
    private let matchers: [ValueMatcher]
    /// They may take long over a long text.
    private let patterns: [ValueMatcher]

    /// Patterns are tried on so many bytes of one body, which is as much as a head may have that they are tried on.
    static let patternBytes = 32 << 10
    /// And on so many values of one name.
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
            // an answer that is still to come may be of any type
            guard let response = subject.response else { return subject.isEarly ? .open : .no }
            let type = response.fields["Content-Type"]
            return concerns(type) ? judge(&bodies.response, type, &bodies.fault) : .no
        }
    }

    /// Whether a body of that type may have such values: one of another need not be kept.
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

    /// The values that are there; nil where the body is not here.
    private func values(in body: inout EditedBody?, _ type: String?, _ fault: inout String?) -> [JSONValue]? {
        guard var found = body else { return nil }
        // there is one of it, so that what is read of it once is kept
        body = nil
        defer { body = found }
        // edits of the head may have changed it since
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

    /// Whether the condition holds, and why; secrets may stand in bodies, so no value is shown.
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
