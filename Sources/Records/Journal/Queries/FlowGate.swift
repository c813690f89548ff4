internal import Formats
public import Interception

/// A condition on stored flows, as far as it is decided in place: without bodies, and without a copy of a part.
public indirect enum FlowGate: Sendable {
    case all([FlowGate])
    case any([FlowGate])
    case not(FlowGate)
    case test(Test)
    /// A term on a body or an error.
    case open

    /// A term that a flow decides at once.
    public struct Test: Sendable {
        let test: FlowTest
    }

    public init(_ condition: Condition) {
        switch condition {
        case .always: self = .all([])
        case .all(let parts):
            self = .all(parts.map(FlowGate.init).sorted { $0.cost < $1.cost })
        case .any(let parts): self = .any(parts.map(FlowGate.init))
        case .not(let part): self = .not(FlowGate(part))
        case .test(.by, let matchers):
            let usher = FlowGate.test(Test(test: .hasParent))
            let ways: [(by: String, gate: FlowGate)] = [("usher", usher), ("app", .not(usher))]
            self = .any(ways.filter { way in matchers.contains { $0.accepts(way.by) } }.map(\.gate))
        case .test(let key, let matchers): self = FlowTest(key, matchers).map { .test(Test(test: $0)) } ?? .open
        }
    }

    private var cost: Int {
        switch self {
        case .all(let parts), .any(let parts): parts.reduce(1) { $0 + $1.cost }
        case .not(let part): part.cost
        case .test(let test): test.test.cost
        case .open: .max >> 16
        }
    }

    public func judge(_ flow: borrowing PackedFlow) -> Judgement {
        switch self {
        case .all(let parts):
            var all = Judgement.yes
            for part in parts where all != .no { all = min(all, part.judge(flow)) }
            return all
        case .any(let parts):
            var any = Judgement.no
            for part in parts where any != .yes { any = max(any, part.judge(flow)) }
            return any
        case .not(let part): return part.judge(flow).opposite
        case .test(let test): return Judgement(test.test.holds(for: flow))
        case .open: return .open
        }
    }

    /// The number of terms that fail, counted up to a limit.
    public func misses(_ flow: borrowing PackedFlow, most: Int) -> Int {
        guard case .all(let parts) = self else { return judge(flow) == .no ? 1 : 0 }
        var misses = 0
        for part in parts where misses < most && part.judge(flow) == .no { misses += 1 }
        return misses
    }

    /// The number of terms.
    public var terms: Int { if case .all(let parts) = self { parts.count } else { 1 } }
}

extension FlowTest {
    /// The test of a key of `when`; nil for a key of bodies and errors.
    fileprivate init?(_ key: Condition.Key, _ matchers: [TextMatcher]) {
        let plain = matchers.map { Matcher($0, ignoringCase: false) }
        let folding = matchers.map { Matcher($0, ignoringCase: true) }
        switch key {
        case .action: self = .part(.action, plain)
        case .tree: self = .part(.tree, plain)
        case .type: self = .part(.type, plain)
        case .realm: self = .part(.realm, plain)
        case .method: self = .part(.method, plain)
        case .host: self = .part(.authority, folding)
        case .scheme: self = .scheme(folding)
        case .port: self = .port(plain.map(\.ofNumbers))
        case .status: self = .status(plain.map(\.ofNumbers))
        case .path: self = .path(plain)
        case .platform: self = .header(Array("x-requested-platform".utf8), plain)
        case .header(let name): self = .header(name.utf8.map(ASCII.lower), plain)
        case .query(let name): self = .query(Array(name.utf8), plain)
        case .cookie(let name): self = .cookie(Array(name.utf8), plain)
        case .contentType: self = .contentType(folding)
        case .by, .json, .form, .responseJSON, .error, .responseHeader: return nil
        }
    }
}

extension Matcher {
    /// The matcher for values that are numbers already.
    fileprivate var ofNumbers: Matcher {
        guard case .exact(let digits) = self, let number = Int(String(decoding: digits, as: UTF8.self)) else {
            return self
        }
        return .range(number...number)
    }
}
