internal import Declaration
internal import Interception

/// A filter for journeys: terms of journeys, and terms of flows that one of the calls has to meet together.
public struct JourneyFilter: Sendable {
    private enum Test: Sendable {
        case outcome([JourneyOutcome])
        case by(isOwn: Bool)
        case login([Matcher])
    }

    private var tests: [(test: Test, isNegated: Bool)] = []
    private let flows: FlowFilter?

    private static let keys = ["outcome", "by", "login"]

    /// - Parameters:
    /// - texts: terms of `FlowFilter`, and `outcome=failed`, `by=usher`, `login=demo`.
    /// - now: milliseconds since 1970.
    public init(_ texts: [String], now: Int) throws(FlowFilter.Fault) {
        var others: [String] = []
        var isNegated = false
        for text in texts {
            let (rest, negations) = Self.withoutNot(text[...])
            if rest.isEmpty {
                if negations % 2 == 1 { isNegated.toggle() }
                continue
            }
            let isTurned = isNegated != (negations % 2 == 1)
            isNegated = false
            if let term = try Self.own(rest, isTurned) {
                tests.append(term)
            } else {
                others.append(isTurned ? "not \(rest)" : String(rest))
            }
        }
        if isNegated { others.append("not") }
        flows = others.isEmpty ? nil : try FlowFilter(["calls=yes"] + others, now: now, beside: Self.keys)
    }

    private static func withoutNot(_ text: Substring) -> (rest: Substring, negations: Int) {
        var rest = text.drop { $0 == " " }
        var negations = 0
        while rest == "not" || rest.hasPrefix("not ") {
            rest = rest.dropFirst(3).drop { $0 == " " }
            negations += 1
        }
        return (rest, negations)
    }

    private static func own(
        _ text: Substring, _ isTurned: Bool
    ) throws(FlowFilter.Fault) -> (test: Test, isNegated: Bool)? {
        guard let equals = text.firstIndex(of: "=") else { return nil }
        var key = text[..<equals]
        let isNegated = key.hasSuffix("!") != isTurned
        if key.hasSuffix("!") { key = key.dropLast() }
        guard keys.contains(String(key)) else { return nil }
        let value = text[text.index(after: equals)...]
        guard !value.isEmpty else { throw .init("\(key) has no value") }
        return (try test(String(key), value), isNegated)
    }

    private static func test(_ key: String, _ value: Substring) throws(FlowFilter.Fault) -> Test {
        switch key {
        case "outcome":
            var outcomes: [JourneyOutcome] = []
            for word in value.split(separator: ",", omittingEmptySubsequences: false) {
                guard let outcome = JourneyOutcome(rawValue: String(word)) else { throw unknown(word) }
                outcomes.append(outcome)
            }
            return .outcome(outcomes)
        case "by":
            guard value == "usher" || value == "app" else {
                throw .init("by takes usher or app, found \"\(FlowFilterReader.quoted(value))\"")
            }
            return .by(isOwn: value == "usher")
        default: return .login(try FlowFilterReader.matchers("login", value))
        }
    }

    private static func unknown(_ word: Substring) -> FlowFilter.Fault {
        let words = JourneyOutcome.allCases.map(\.rawValue)
        let nearest = Nearest.name(to: String(word), among: words).map { "; did you mean \($0)?" } ?? ""
        return .init(
            "outcome takes \(words.joined(separator: ", ")), found \"\(FlowFilterReader.quoted(word))\"\(nearest)")
    }

    /// - Parameter now: milliseconds since 1970.
    public func accepts(_ journey: Journey, now: Int) -> Bool {
        for (test, isNegated) in tests where Self.holds(test, for: journey, now) == isNegated { return false }
        guard let flows else { return true }
        return journey.steps.contains { flows.accepts($0.flow) } || journey.calls.contains { flows.accepts($0.flow) }
    }

    private static func holds(_ test: Test, for journey: Journey, _ now: Int) -> Bool {
        switch test {
        case .outcome(let outcomes): outcomes.contains(journey.outcome(at: now))
        case .by(let isOwn): (journey.parent != nil) == isOwn
        case .login(let matchers):
            journey.login.map { login in matchers.contains { $0.accepts(login.utf8.span) } } ?? false
        }
    }
}
