/// A `Condition` compiled for many requests.
enum CompiledCondition: Sendable {
    case always
    case all([CompiledCondition])
    case any([CompiledCondition])
    indirect case not(CompiledCondition)
    case test(Test)
    case body(BodyTest)

    /// A class, so that a copy costs one reference count instead of one for each part.
    final class Test: Sendable {
        let key: Condition.Key
        let matchers: [Matcher]
        /// The expected values as the configuration writes them.
        let wanted: String

        init(_ key: Condition.Key, _ matchers: [TextMatcher]) {
            self.key = key
            self.matchers = matchers.map { Matcher($0, ignoringCase: key.ignoresCase) }
            wanted = matchers.map(\.description).joined(separator: " or ")
        }
    }

    init(_ condition: Condition) {
        switch condition {
        case .always: self = .always
        case .all(let parts): self = .all(Self.ordered(parts))
        case .any(let parts): self = .any(Self.ordered(parts))
        case .not(let part): self = .not(CompiledCondition(part))
        case .test(let key, let matchers):
            self = key.body.map { .body(BodyTest(key, $0, matchers)) } ?? .test(Test(key, matchers))
        }
    }

    /// Orders parts so that those without a body decide first, which avoids needless reads of bodies.
    private static func ordered(_ parts: [Condition]) -> [CompiledCondition] {
        let parts = parts.map(CompiledCondition.init)
        return parts.filter { !$0.asksBodies } + parts.filter(\.asksBodies)
    }

    /// Evaluates a condition on heads only; `judge` also reads bodies.
    func holds(for subject: Subject) -> Bool {
        switch self {
        case .always: true
        case .all(let parts): parts.allSatisfy { $0.holds(for: subject) }
        case .any(let parts): parts.contains { $0.holds(for: subject) }
        case .not(let part): !part.holds(for: subject)
        case .test(let test): test.holds(for: subject)
        case .body: false
        }
    }
}

extension CompiledCondition.Test {
    func holds(for subject: Subject) -> Bool {
        subject.contains(key) { value in
            for matcher in matchers where matcher.accepts(value) { return true }
            return false
        }
    }
}

extension Condition.Key {
    var ignoresCase: Bool { self == .host || self == .scheme || self == .contentType }

    /// The configuration key.
    var name: String {
        switch self {
        case .action: "action"
        case .tree: "tree"
        case .type: "type"
        case .realm: "realm"
        case .platform: "platform"
        case .scheme: "scheme"
        case .host: "host"
        case .port: "port"
        case .by: "by"
        case .path: "path"
        case .method: "method"
        case .header(let name): "header \(name)"
        case .query(let name): "query \(name)"
        case .cookie(let name): "cookie \(name)"
        case .status: "status"
        case .contentType: "content_type"
        case .responseHeader(let name): "response_header \(name)"
        case .json(let pointer): "json \(pointer)"
        case .form(let name): "form \(name)"
        case .responseJSON(let pointer): "response_json \(pointer)"
        case .error: "error"
        }
    }

    /// True for values that may be secret and are never shown: fields, queries, cookies and bodies.
    var isSecret: Bool {
        switch self {
        case .header, .query, .cookie, .json, .form, .responseHeader, .responseJSON: true
        default: false
        }
    }
}

// MARK: the Actions that a condition requires

/// The Action that a condition requires. Rules of other Actions are skipped without evaluation.
enum ActionDemand: Equatable {
    case none
    /// Any Action.
    case some
    case oneOf(Set<Action>)

    init(_ condition: Condition) {
        switch condition {
        case .always, .not: self = .none
        case .test(.action, let matchers):
            var names: Set<Action> = []
            for matcher in matchers {
                guard case .exact(let name) = matcher else {
                    self = .some
                    return
                }
                names.insert(Action(rawValue: name))
            }
            self = .oneOf(names)
        case .test: self = .none
        case .all(let parts): self = parts.map(ActionDemand.init).reduce(.none) { $0.and($1) }
        case .any(let parts):
            guard let first = parts.first else {
                self = .none
                return
            }
            self = parts.dropFirst().map(ActionDemand.init).reduce(ActionDemand(first)) { $0.or($1) }
        }
    }

    private func and(_ other: ActionDemand) -> ActionDemand {
        switch (self, other) {
        case (.oneOf(let left), .oneOf(let right)): .oneOf(left.intersection(right))
        case (.oneOf, _), (.some, .none): self
        default: other
        }
    }

    private func or(_ other: ActionDemand) -> ActionDemand {
        switch (self, other) {
        case (.none, _), (_, .none): .none
        case (.oneOf(let left), .oneOf(let right)): .oneOf(left.union(right))
        default: .some
        }
    }

    func admits(_ action: Action?) -> Bool {
        switch self {
        case .none: true
        case .some: action != nil
        case .oneOf(let actions): action.map(actions.contains) ?? false
        }
    }
}
