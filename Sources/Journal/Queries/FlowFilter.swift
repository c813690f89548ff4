/// Which flows are asked for: all of its terms hold.
public struct FlowFilter: Sendable {
    /// Why a filter is none.
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        public let description: String

        init(_ description: String) { self.description = description }
    }

    struct Term: Sendable {
        var test: FlowTest
        var isNegated = false
    }

    private var terms: [Term] = []
    /// Calls of Usher's own are shown among their callers', and here where they are asked for.
    private var takesCalls = false

    /// Every request of a client.
    public init() {}

    /// - Parameters:
    ///   - texts: terms: `status=4xx`, `host!=*.test`, `not`, which turns the term behind it round.
    ///   - now: milliseconds since 1970, which `since=5m` counts from.
    public init(_ texts: [String], now: Int) throws(Fault) { try self.init(texts, now: now, beside: []) }

    /// - Parameter others: keys that somebody else reads, for who mistypes one.
    init(_ texts: [String], now: Int, beside others: [String]) throws(Fault) {
        let reader = FlowFilterReader(now: now, others: others)
        var isNegated = false
        for text in texts {
            var text = text[...]
            while let rest = Self.negated(text) {
                isNegated.toggle()
                text = rest
            }
            guard !text.isEmpty else { continue }
            switch try reader.term(text) {
            case .term(var term):
                if isNegated { term.isNegated.toggle() }
                if term.test.namesCalls, !term.isNegated { takesCalls = true }
                terms.append(term)
            case .calls(let calls):
                takesCalls = isNegated ? calls == .no : calls != .no
                if calls == .only { terms.append(Term(test: .hasParent, isNegated: isNegated)) }
            }
            isNegated = false
        }
        guard !isNegated else { throw Fault("behind \"not\" stands what does not hold, as in not status=2xx") }
        terms.sort { $0.test.cost < $1.test.cost }
    }

    /// What stands behind a `not`.
    private static func negated(_ text: Substring) -> Substring? {
        let trimmed = text.drop { $0 == " " }
        guard trimmed.hasPrefix("not") else { return nil }
        let rest = trimmed.dropFirst(3)
        return rest.isEmpty || rest.hasPrefix(" ") ? rest.drop { $0 == " " } : nil
    }

    /// One text with spaces between its terms; what stands between double quotes may hold some.
    public static func split(_ text: String) -> [String] {
        var terms: [String] = []
        var term = String.UnicodeScalarView()
        var isQuoted = false
        for scalar in text.unicodeScalars {
            if scalar == "\"" {
                isQuoted.toggle()
            } else if scalar == " ", !isQuoted {
                if !term.isEmpty { terms.append(String(term)) }
                term = String.UnicodeScalarView()
            } else {
                term.append(scalar)
            }
        }
        if !term.isEmpty { terms.append(String(term)) }
        return terms
    }

    public func accepts(_ flow: borrowing PackedFlow) -> Bool {
        if !takesCalls, flow[.parent] != 0 { return false }
        for term in terms where term.test.holds(for: flow) == term.isNegated { return false }
        return true
    }
}
