internal import Formats

/// How many requests an interceptor lets through at a time, or in a time.
public struct LimitPolicy: Equatable, Sendable {
    /// What is counted together.
    public enum Scope: String, CaseIterable, Sendable {
        /// All that the interceptor applies to.
        case all
        case host, action, client
    }

    public struct Rate: Equatable, Sendable {
        public enum Unit: String, CaseIterable, Sendable {
            case second = "s"
            case minute = "m"
            case hour = "h"

            var milliseconds: Int {
                switch self {
                case .second: 1_000
                case .minute: 60_000
                case .hour: 3_600_000
                }
            }
        }

        public var count: Int
        public var unit: Unit

        public static let most = 1_000_000

        public init(_ count: Int, per unit: Unit) {
            self.count = count
            self.unit = unit
        }

        /// As the configuration writes it: `10/s`.
        public init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let count = Int(parts[0]), (1...Self.most).contains(count),
                parts[0].utf8.allSatisfy({ ASCII.isDigit($0) }), let unit = Unit(rawValue: String(parts[1]))
            else { return nil }
            self.init(count, per: unit)
        }

        var words: String { "\(count)/\(unit.rawValue)" }
    }

    public var rate: Rate?
    /// So many at once, when none came for a while; nil for as many as the rate lets through in its time.
    public var burst: Int?
    /// So many are under way at a time.
    public var concurrency: Int?
    public var scope = Scope.all
    /// How long a request waits for its turn at most, in milliseconds; nil where none waits.
    public var wait: Int?
    /// So many wait at a time.
    public var queue = 100
    /// Of the answer to what is not let through.
    public var status = 429

    public init(rate: Rate? = nil, concurrency: Int? = nil) {
        self.rate = rate
        self.concurrency = concurrency
    }

    var measure: TokenBucket.Measure? {
        rate.map {
            TokenBucket.Measure(
                burst: Double(burst ?? $0.count), interval: Double($0.unit.milliseconds) / Double($0.count))
        }
    }

    /// In a few words.
    public var words: String {
        let bounds = [rate?.words, concurrency.map { "\($0) at a time" }].compactMap { $0 }
        return bounds.joined(separator: " and ") + (scope == .all ? "" : " for each \(scope.rawValue)")
    }
}

/// That an interceptor counts a request.
public struct LimitWish: Equatable, Sendable {
    public let interceptor: String
    /// Which of the interceptor's limits it is.
    public let number: Int
    public let policy: LimitPolicy
}

/// What is counted together. It names the interceptor, so that a configuration that is reloaded goes on counting.
public struct LimitKey: Hashable, Sendable {
    private let interceptor: String
    private let number: Int
    private let subject: String

    /// - Parameter subject: the host, the Action or the client; empty where all count together.
    public init(_ wish: LimitWish, subject: String) {
        interceptor = wish.interceptor
        number = wish.number
        self.subject = subject
    }
}
