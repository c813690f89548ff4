public import Interception

/// What the traffic has to show: an entry of `expect:`, or a rule of a pack.
public struct Expectation: Sendable {
    public enum Test: Sendable {
        case messages(MessageTest)
        /// A rule over several flows, before the first one.
        case rule(any FlowRule)
    }

    public var name: String
    /// `usher.yaml:12:5`; empty for a rule of a pack.
    public var place: String
    /// What it demands, in words.
    public var words: String
    /// The pack and the source of a rule.
    public var rule: Origin?
    public var test: Test

    public struct Origin: Sendable {
        public var pack: String
        /// Such as `RFC 9700 §2.1.1`.
        public var source: String
    }

    public init(name: String, place: String = "", words: String, rule: Origin? = nil, test: Test) {
        self.name = name
        self.place = place
        self.words = words
        self.rule = rule
        self.test = test
    }
}

/// Which messages have to come, how many, when, and how each has to be.
public struct MessageTest: Sendable {
    /// What the messages are counted in.
    public enum Scope: String, CaseIterable, Sendable { case session, journey }

    /// Another expectation or an Action that messages come before or after.
    public struct Anchor: Sendable {
        public var name: String
        public var when: Condition

        public init(name: String, when: Condition) {
            self.name = name
            self.when = when
        }
    }

    public var when: Condition
    public var count: ClosedRange<Int>
    /// What each of the messages also has to be.
    public var each: Condition?
    /// Whether each of the messages came by a step-up.
    public var stepUp: Bool?
    public var before: Anchor?
    public var after: Anchor?
    /// In milliseconds: the distance to the anchor; without one, the time of each exchange.
    public var within: Int?
    public var scope = Scope.session

    public init(_ when: Condition, count: ClosedRange<Int>, each: Condition? = nil) {
        self.when = when
        self.count = count
        self.each = each
    }

    /// The counts that `count` stands for: `1`, `>=2`, `<=3`, `2-4` or `never`; nil for other text.
    public static func counts(_ text: String) -> ClosedRange<Int>? {
        func number(_ text: some StringProtocol) -> Int? {
            Int(text).flatMap { text.utf8.allSatisfy { $0 >= 0x30 } && $0 <= most ? $0 : nil }
        }
        if text == "never" { return 0...0 }
        if text.hasPrefix(">=") { return number(text.dropFirst(2)).map { $0...Int.max } }
        if text.hasPrefix("<=") { return number(text.dropFirst(2)).map { 0...$0 } }
        let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { number($0) }
        switch bounds.count {
        case 1: return bounds[0].map { $0...$0 }
        case 2:
            guard let first = bounds[0], let last = bounds[1], first <= last else { return nil }
            return first...last
        default: return nil
        }
    }

    /// The largest count that may be asked for.
    public static let most = 1_000_000

    /// The counts as they are written.
    public static func words(_ count: ClosedRange<Int>) -> String {
        switch (count.lowerBound, count.upperBound) {
        case (0, 0): "never"
        case (0, .max): "any number"
        case (let least, .max): "at least \(least)"
        case (0, let most): "at most \(most)"
        case (let least, let most): least == most ? "\(least)" : "\(least) to \(most)"
        }
    }
}
