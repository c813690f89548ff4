/// A filter for flows. All of its terms have to hold.
public struct FlowFilter: Sendable {
    /// The reason why a filter is invalid.
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        public let description: String

        init(_ description: String) { self.description = description }
    }

    struct Term: Sendable {
        var test: FlowTest
        var isNegated = false
    }

    private var terms: [Term] = []
    /// True to include calls by Usher. Otherwise they are shown only with the flow that caused them.
    private var takesCalls = false

    /// Accepts every request of a client.
    public init() {}

    /// - Parameters:
    /// - texts: terms: `status=4xx`, `host!=*.test`, or `not`, which negates the next term.
    /// - now: milliseconds since 1970, for relative times such as `since=5m`.
    public init(_ texts: [String], now: Int) throws(Fault) { try self.init(texts, now: now, beside: []) }

    /// - Parameter others: keys that the caller reads itself, for suggestions.
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
        guard !isNegated else { throw Fault("\"not\" comes before a filter, as in not status=2xx") }
        terms.sort { $0.test.cost < $1.test.cost }
    }

    /// The text after a `not`.
    private static func negated(_ text: Substring) -> Substring? {
        let trimmed = text.drop { $0 == " " }
        guard trimmed.hasPrefix("not") else { return nil }
        let rest = trimmed.dropFirst(3)
        return rest.isEmpty || rest.hasPrefix(" ") ? rest.drop { $0 == " " } : nil
    }

    /// Splits a text at spaces outside of double quotes.
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
