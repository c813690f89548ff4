/// What a configuration should be told of a condition that never holds. Found is what one key shows by itself, and which
/// phases leave no value for.
extension Condition {
    public enum Contradiction: Equatable, Sendable {
        /// No value of this key is what all of it asks for.
        case values(of: String)
        /// It asks for a response and for why there is none.
        case phases
        /// It asks for nothing, and not for that.
        case nothing
    }

    /// Values of one key that are tried; more of them are left alone.
    private static let mostValues = 64

    public var contradiction: Contradiction? {
        if judge({ _, _ in .open }) == .no { return .nothing }
        if needsError, needsResponse { return .phases }
        var keys: [(key: Key, tests: Int, matchers: [TextMatcher])] = []
        collect(&keys)
        // one test of a key comes out either way
        let key = keys.first {
            $0.tests > 1 && $0.matchers.count <= Self.mostValues && isImpossible($0.key, $0.matchers)
        }
        return key.map { .values(of: $0.key.name) }
    }

    /// True where it holds whatever is asked.
    public var isAlways: Bool { judge { _, _ in .open } == .yes }

    /// False where it never holds for a request to there.
    /// - Parameter host: in lower case; nil for any.
    func mayHold(at host: String?, port: UInt16) -> Bool {
        judge { key, matchers in
            let value: String? =
                switch key {
                case .host: host
                case .port: String(port)
                default: nil
                }
            guard let value else { return .open }
            return Judgement(
                matchers.contains { Matcher($0, ignoringCase: key.ignoresCase).accepts(value.utf8.span) })
        } != .no
    }

    /// True where it asks for what is known of requests to an AM alone, and no AM is known.
    /// - Parameter actions: those that are told all the same.
    public func needsServer(knowing actions: [String]) -> Bool {
        // logins of interceptors go elsewhere
        let told = actions + [Action.sessionLogin, .identityToken].map(\.rawValue)
        let outcome = judge { key, matchers in
            switch key {
            case .tree, .type, .realm: .no
            case .action: told.contains { name in matchers.contains { $0.accepts(name) } } ? .open : .no
            default: .open
            }
        }
        return outcome == .no && contradiction == nil
    }

    private func isImpossible(_ key: Key, _ matchers: [TextMatcher]) -> Bool {
        func judge(_ outcome: ([TextMatcher]) -> Judgement) -> Judgement {
            self.judge { asked, matchers in asked == key ? outcome(matchers) : .open }
        }
        // no value at all
        guard judge({ _ in .no }) == .no else { return false }
        // one that nobody wrote down
        let other = judge { matchers in
            if matchers.contains(where: \.isPresence) { return .yes }
            let isOpen = !key.isSingle || matchers.contains { if case .exact = $0 { false } else { true } }
            return isOpen ? .open : .no
        }
        guard other == .no else { return false }
        guard key.isSingle else { return true }
        return matchers.allSatisfy { matcher in
            guard case .exact(let value) = matcher else { return true }
            let holds = judge { matchers in
                Judgement(
                    matchers.contains { Matcher($0, ignoringCase: key.ignoresCase).accepts(value.utf8.span) })
            }
            return holds == .no
        }
    }

    private func collect(_ keys: inout [(key: Key, tests: Int, matchers: [TextMatcher])]) {
        switch self {
        case .always: break
        case .all(let parts), .any(let parts): for part in parts { part.collect(&keys) }
        case .not(let part): part.collect(&keys)
        case .test(let key, let matchers):
            let index = keys.firstIndex { $0.key == key } ?? keys.endIndex
            if index == keys.endIndex { keys.append((key, 0, [])) }
            keys[index].tests += 1
            keys[index].matchers += matchers
        }
    }

    private func judge(_ outcome: (Key, [TextMatcher]) -> Judgement) -> Judgement {
        switch self {
        case .always: return .yes
        // what is faulty is told elsewhere
        case .test(_, let matchers) where matchers.isEmpty: return .open
        case .any(let parts) where parts.isEmpty: return .open
        case .test(let key, let matchers): return outcome(key, matchers)
        case .not(let part): return part.judge(outcome).opposite
        case .all(let parts): return parts.reduce(.yes) { min($0, $1.judge(outcome)) }
        case .any(let parts): return parts.reduce(.no) { max($0, $1.judge(outcome)) }
        }
    }
}

extension Condition.Key {
    /// An exchange has one value of it at most.
    fileprivate var isSingle: Bool {
        switch self {
        case .action, .tree, .type, .realm, .scheme, .host, .port, .by, .path, .method, .status, .contentType: true
        case .platform, .header, .query, .cookie, .json, .form, .responseJSON, .error: false
        }
    }
}

extension Rule {
    /// It asks for Actions that calls of Usher's own alone are, and leaves these alone: it never holds.
    public var missesItsCalls: Bool {
        guard sparesCalls, case .oneOf(let actions) = ActionDemand(when) else { return false }
        return !actions.isEmpty && actions.isSubset(of: Action.own)
    }
}

extension TextMatcher {
    /// `"*"`: any value will do.
    var isPresence: Bool { if case .glob("*") = self { true } else { false } }
}
