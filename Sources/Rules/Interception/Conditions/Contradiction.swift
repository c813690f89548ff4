/// Finds conditions that never hold, for a finding of the configuration. It detects contradictions within one key and between
/// phases.
extension Condition {
    public enum Contradiction: Equatable, Sendable {
        /// No value of this key satisfies all of its tests.
        case values(of: String)
        /// The condition needs both a response and the lack of one.
        case phases
        /// The condition is empty and negated.
        case nothing
    }

    /// The number of values of one key that are tried; keys with more are not checked.
    private static let mostValues = 64

    public var contradiction: Contradiction? {
        if judge({ _, _ in .open }) == .no { return .nothing }
        if needsError, needsResponse { return .phases }
        var keys: [(key: Key, tests: Int, matchers: [TextMatcher])] = []
        collect(&keys)
        // a single test can hold or fail, so it is no contradiction
        let key = keys.first {
            $0.tests > 1 && $0.matchers.count <= Self.mostValues && isImpossible($0.key, $0.matchers)
        }
        return key.map { .values(of: $0.key.name) }
    }

    /// True if the condition holds for every exchange.
    public var isAlways: Bool { judge { _, _ in .open } == .yes }

    /// False if the condition never holds for requests to this host and port.
    /// - Parameter host: in lower case; nil for any host.
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

    /// True if the condition needs an Action, tree, type or realm that only a configured AM can provide.
    /// - Parameter actions: Actions that are known without an AM.
    public func needsServer(knowing actions: [String]) -> Bool {
        // logins of interceptors go to other servers
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
        // first: no value at all
        guard judge({ _ in .no }) == .no else { return false }
        // then: a value that the condition does not mention
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
        // other checks report empty lists
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
    /// True if an exchange has at most one value of this key.
    fileprivate var isSingle: Bool {
        switch self {
        case .action, .tree, .type, .realm, .scheme, .host, .port, .by, .path, .method, .status, .contentType: true
        case .platform, .header, .query, .cookie, .json, .form, .responseHeader, .responseJSON, .error: false
        }
    }
}

extension Rule {
    /// True if the rule names only Actions of Usher's own calls but skips such calls, so that it never applies.
    public var missesItsCalls: Bool {
        guard sparesCalls, case .oneOf(let actions) = ActionDemand(when) else { return false }
        return !actions.isEmpty && actions.isSubset(of: Action.own)
    }
}

extension TextMatcher {
    /// `"*"`: any value matches.
    var isPresence: Bool { if case .glob("*") = self { true } else { false } }
}
