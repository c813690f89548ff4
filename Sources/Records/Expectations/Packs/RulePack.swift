internal import Interception

/// A pack of rules that comes with Usher.
public struct RulePack: Sendable {
    public let name: String
    public let words: String
    public let rules: [Expectation]

    public static let all = [oauthBestPractice, amClient, sdkHabits]

    init(_ name: String, _ words: String, _ rules: Rule...) {
        self.name = name
        self.words = words
        self.rules = rules.map { rule in
            Expectation(
                name: rule.name, words: rule.words, rule: .init(pack: name, source: rule.source), test: rule.test)
        }
    }

    struct Rule {
        let name: String
        let words: String
        let source: String
        let test: Expectation.Test

        init(_ name: String, _ words: String, _ source: String, _ rule: any FlowRule) {
            self.init(name: name, words: words, source: source, test: .rule(rule))
        }

        /// Each message that fits `when` also has to fit `each`.
        init(_ name: String, _ words: String, _ source: String, when: Condition, each: Condition) {
            let test = MessageTest(when, count: 0...Int.max, each: each)
            self.init(name: name, words: words, source: source, test: .messages(test))
        }

        init(_ name: String, _ words: String, _ source: String, never: Condition) {
            self.init(name: name, words: words, source: source, test: .messages(MessageTest(never, count: 0...0)))
        }

        private init(name: String, words: String, source: String, test: Expectation.Test) {
            self.name = name
            self.words = words
            self.source = source
            self.test = test
        }
    }
}

/// Conditions as rules write them.
extension Condition {
    static func action(_ actions: Action...) -> Condition {
        .test(.action, actions.map { .exact($0.rawValue) })
    }

    /// - Parameter values: exact, or globs.
    static func key(_ key: Key, _ values: String...) -> Condition {
        .test(key, values.map { $0.contains("*") ? .glob($0) : .exact($0) })
    }

    /// A parameter of the query or of the form.
    static func parameter(_ name: String, _ values: String...) -> Condition {
        let matchers = values.map { $0.contains("*") ? TextMatcher.glob($0) : .exact($0) }
        return .any([.test(.query(name), matchers), .test(.form(name), matchers)])
    }
}
