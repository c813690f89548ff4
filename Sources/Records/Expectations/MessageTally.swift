internal import Interception
internal import Journal

/// The messages that an expectation has counted.
struct MessageTally: Sendable {
    private let expectation: Expectation
    private let test: MessageTest
    let asksForCalls: Bool
    private let when: Term
    private let each: Term?
    private let before: Term?
    private let after: Term?
    /// By journey; 0 for a session.
    private var groups: [Int: Group] = [:]
    /// Flows that were counted but are not as they have to be.
    private var broken = 0
    private var failures: [ExpectationReport.Failure] = []
    /// The flow that failed the fewest terms.
    private var nearest: (flow: PackedFlow, misses: [String])?
    /// Whether a nearer one is of use.
    private var seeksNearest: Bool

    /// The limit of journeys that are told apart.
    private static let mostGroups = 1024

    /// A condition with the part that is decided in place.
    struct Term: Sendable {
        let gate: FlowGate
        let condition: RecordedCondition

        init(_ condition: Condition) {
            gate = FlowGate(condition)
            self.condition = RecordedCondition(condition)
        }

        func fits(_ exchange: inout StoredExchange) -> Bool {
            switch gate.judge(exchange.flow) {
            case .no: false
            case .yes: true
            case .open: exchange.fits(condition)
            }
        }
    }

    init(_ expectation: Expectation, _ test: MessageTest) {
        self.expectation = expectation
        self.test = test
        asksForCalls = test.when.contains { $0 == .by }
        when = Term(test.when)
        // of a single term, all flows are equally near
        seeksNearest = test.count.lowerBound > 0 && when.gate.terms > 1
        each = test.each.map(Term.init)
        before = test.before.map { Term($0.when) }
        after = test.after.map { Term($0.when) }
        if test.scope == .session { groups[0] = Group() }
    }

    // MARK: flows

    mutating func observe(_ exchange: inout StoredExchange, _ journey: Int?) {
        let isPossible = when.gate.judge(exchange.flow) != .no
        let isOrdered = before != nil || after != nil
        guard isPossible || isOrdered || seeksNearest || test.scope == .journey,
            let place = test.scope == .session ? 0 : journey
        else { return }
        if groups[place] == nil {
            guard groups.count < Self.mostGroups else { return }
            groups[place] = Group()
        }
        if let before, before.fits(&exchange) { groups[place, default: Group()].follow.add(exchange) }
        if let after, after.fits(&exchange) { groups[place, default: Group()].lead.add(exchange) }
        guard isPossible, when.fits(&exchange) else { return miss(&exchange) }
        let counted = groups[place, default: Group()].count(
            exchange, upTo: test.count.upperBound, keepsTimes: isOrdered)
        if test.scope == .session, counted >= test.count.lowerBound { seeksNearest = false }
        if let each, !each.fits(&exchange) {
            fail(exchange.flow, exchange.explain(each.condition).because)
        } else if let stepUp = test.stepUp, exchange.flow.flags.contains(.steppedUp) != stepUp {
            fail(exchange.flow, stepUp ? "it came without a step-up" : "it came by a step-up")
        } else if !isOrdered, let within = test.within, exchange.ended - exchange.began > within {
            fail(exchange.flow, "it took \(exchange.ended - exchange.began) ms, wanted \(within) ms")
        }
    }

    private mutating func fail(_ flow: PackedFlow, _ because: String) {
        broken += 1
        if failures.count < ExpectationReport.mostFailures { failures.append(.init(flow, because)) }
    }

    /// Keeps the flow if it is nearer than the one before.
    private mutating func miss(_ exchange: inout StoredExchange) {
        let best = nearest?.misses.count ?? when.gate.terms
        guard seeksNearest, when.gate.misses(exchange.flow, most: best) < best else { return }
        let misses = exchange.explain(when.condition).misses
        guard !misses.isEmpty, misses.count < best else { return }
        nearest = (exchange.flow.alone, misses)
        seeksNearest = misses.count > 1
    }

    // MARK: verdict

    var entry: ExpectationReport.Entry {
        var entry = ExpectationReport.Entry(
            expectation, counted: groups.values.reduce(0) { $0 + $1.counted },
            wanted: MessageTest.words(test.count) + (test.scope == .journey ? " in each journey" : ""))
        entry.flows = Array(groups.values.flatMap(\.flows).prefix(Group.mostFlows))
        entry.failures = failures
        entry.failed = broken
        for (_, group) in groups.sorted(by: { $0.key < $1.key }) {
            if let surplus = group.surplus, group.counted > test.count.upperBound {
                var exchange = StoredExchange(surplus)
                entry.failures.append(.init(surplus, exchange.explain(when.condition).because))
                entry.failed += group.counted - test.count.upperBound
            }
            let late = group.late(test)
            entry.failures += late
            entry.failed += late.count
        }
        let lacks = groups.isEmpty ? isAwaited : groups.values.contains { $0.counted < test.count.lowerBound }
        entry.failures = Array(entry.failures.prefix(ExpectationReport.mostFailures))
        if entry.failed > 0 {
            entry.verdict = .unmet
        } else if lacks || groups.values.contains(where: { $0.waits(test) }) {
            entry.verdict = .pending
            if lacks, let nearest { entry.nearest = .init(nearest.flow, nearest.misses.joined(separator: "; ")) }
        }
        return entry
    }

    private var isAwaited: Bool { test.count.lowerBound > 0 }
}

/// The counted messages of a session or journey.
private struct Group: Sendable {
    var counted = 0
    /// The first ones.
    var flows: [FlowID] = []
    /// The first one too many.
    var surplus: PackedFlow?
    /// The messages in the order of their ends, and those of the anchors, if the order matters.
    var matches = Times()
    var lead = Times()
    var follow = Times()

    static let mostFlows = 8

    /// - Returns: the count so far.
    mutating func count(_ exchange: StoredExchange, upTo most: Int, keepsTimes: Bool) -> Int {
        counted += 1
        if flows.count < Self.mostFlows { flows.append(exchange.id) }
        if counted > most, surplus == nil { surplus = exchange.flow.alone }
        if keepsTimes { matches.add(exchange) }
        return counted
    }

    /// The messages that came on the wrong side of an anchor, or too far from it.
    func late(_ test: MessageTest) -> [ExpectationReport.Failure] {
        matches.all.compactMap { match in
            if let anchor = test.after {
                guard let last = lead.all.filter({ $0.began <= match.began && $0.id != match.id }).map(\.ended).max()
                else {
                    return .init(match.flow, match.id, "it came before \(anchor.name)")
                }
                // of anchors beyond the limit, a later one may be nearer
                if let within = test.within, !lead.isFull, match.began - last > within {
                    return .init(match.flow, match.id, Self.words(match.began - last, "after", anchor, within))
                }
            }
            if let anchor = test.before {
                let others = follow.all.filter { $0.id != match.id }
                if others.contains(where: { $0.began <= match.began }) {
                    return .init(match.flow, match.id, "it came after \(anchor.name)")
                }
                if let within = test.within, let next = others.map(\.began).min(), next - match.ended > within {
                    return .init(match.flow, match.id, Self.words(next - match.ended, "before", anchor, within))
                }
            }
            return nil
        }
    }

    private static func words(_ time: Int, _ side: String, _ anchor: MessageTest.Anchor, _ within: Int) -> String {
        "it came \(time) ms \(side) \(anchor.name), wanted \(within) ms"
    }

    /// Whether the anchor still has to come within the time.
    func waits(_ test: MessageTest) -> Bool {
        test.before != nil && test.within != nil && counted > 0 && follow.all.isEmpty
    }
}

/// When messages came, the first ones.
private struct Times: Sendable {
    struct Time: Sendable {
        let id: FlowID
        let began: Int
        let ended: Int
        /// Kept for the first ones.
        let flow: PackedFlow?
    }

    private(set) var all: [Time] = []

    var isFull: Bool { all.count == Self.most }

    /// Later ones are not judged by their order.
    private static let most = 256
    private static let mostFlows = 8

    mutating func add(_ exchange: StoredExchange) {
        guard !isFull else { return }
        all.append(
            Time(
                id: exchange.id, began: exchange.began, ended: exchange.ended,
                flow: all.count < Self.mostFlows ? exchange.flow.alone : nil))
    }
}
