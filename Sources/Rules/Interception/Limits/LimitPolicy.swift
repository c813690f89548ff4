internal import Formats

/// The limits that an interceptor sets on the rate and the concurrency of requests.
public struct LimitPolicy: Equatable, Sendable {
    /// The requests that are counted together.
    public enum Scope: String, CaseIterable, Sendable {
        /// All requests that the interceptor applies to.
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

        /// Parses the configuration's form: `10/s`.
        public init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let count = Int(parts[0]), (1...Self.most).contains(count),
                parts[0].utf8.allSatisfy({ ASCII.isDigit($0) }), let unit = Unit(rawValue: String(parts[1]))
            else { return nil }
            self.init(count, per: unit)
        }

        public var words: String { "\(count)/\(unit.rawValue)" }
    }

    public var rate: Rate?
    /// The number of requests admitted at once after a pause; nil for the rate's own count.
    public var burst: Int?
    /// The number of active requests.
    public var concurrency: Int?
    public var scope = Scope.all
    /// The longest wait of a request, in milliseconds; nil if requests do not wait.
    public var wait: Int?
    /// The number of waiting requests.
    public var queue = 100
    /// The status of the response to a refused request.
    public var status = 429

    public init(rate: Rate? = nil, concurrency: Int? = nil) {
        self.rate = rate
        self.concurrency = concurrency
    }

    /// Whether a request may have to wait for others.
    public var mayWait: Bool { wait != nil || concurrency != nil }

    var measure: TokenBucket.Measure? {
        rate.map {
            TokenBucket.Measure(
                burst: Double(burst ?? $0.count), interval: Double($0.unit.milliseconds) / Double($0.count))
        }
    }

    /// A few words for the log.
    public var words: String {
        let bounds = [rate?.words, concurrency.map { "\($0) at a time" }].compactMap { $0 }
        return bounds.joined(separator: " and ") + (scope == .all ? "" : " for each \(scope.rawValue)")
    }
}

/// A request to count a request at a limit, by an interceptor or an environment.
public struct LimitWish: Equatable, Sendable {
    public let interceptor: String
    /// The index of the limit among the interceptor's limits.
    public let number: Int
    public let policy: LimitPolicy
    /// An environment asks: test sessions have no counts of their own.
    public var isOfEnvironment = false
}

/// The key of requests counted together. It contains the interceptor's name, so that counting continues after a reload.
public struct LimitKey: Hashable, Sendable {
    private let interceptor: String
    private let number: Int
    private let subject: String

    /// - Parameter subject: the host, the Action or the client; empty if all requests count together.
    public init(_ wish: LimitWish, subject: String) {
        interceptor = wish.interceptor
        number = wish.number
        self.subject = subject
    }
}
