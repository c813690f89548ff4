import Formats
import HTTPCodec

/// What costs its sender little and us something, and is nobody's message: there may be so many of each at once, and so many in
/// a time. One more ends the connection (ENHANCE_YOUR_CALM).
enum Flood: Int, CaseIterable {
    /// Streams that the peer resets before they were answered, and those that are reset for what it sent on them.
    case reset
    /// Streams beyond the number that there may be.
    case refusal
    case ping
    /// SETTINGS and GOAWAY.
    case settings
    /// Beyond what there was to grant: see `FloodGuard.sent`.
    case windowUpdate
    case priority
    /// DATA without data that ends nothing.
    case emptyData
    case unknown

    var measure: TokenBucket.Measure {
        switch self {
        case .reset: .init(burst: 200, interval: 20)
        case .refusal: .init(burst: 200, interval: 20)
        case .ping: .init(burst: 100, interval: 50)
        case .settings: .init(burst: 20, interval: 500)
        case .windowUpdate: .init(burst: 1_000, interval: 10)
        case .priority: .init(burst: 1_000, interval: 10)
        case .emptyData: .init(burst: 100, interval: 50)
        case .unknown: .init(burst: 1_000, interval: 10)
        }
    }

    var fault: HTTPFault {
        let code: HTTPFault.Code =
            switch self {
            case .reset: .tooManyResets
            case .refusal: .tooManyRefusals
            case .ping: .tooManyPings
            case .settings: .tooManySettings
            case .windowUpdate: .tooManyWindowUpdates
            case .priority: .tooManyPriorities
            case .emptyData: .tooManyEmptyFrames
            case .unknown: .tooManyUnknownFrames
            }
        return HTTPFault(code, at: 0)
    }
}

/// How many of each there were lately.
struct FloodGuard {
    /// CONTINUATION frames behind one HEADERS: with frames of the least size that may be, more than any head that fits has.
    static let maxContinuations = 8
    /// Compressed fields may unfold to so many times what a head may have, before it is none that anybody means.
    static let maxUnfolding = 8
    /// WINDOW_UPDATE frames for each DATA frame that was sent: one for its stream and one for the connection, and as many again
    /// from who does so in two steps.
    private static let grantsPerFrame = 4
    private static let maxGrants = 10_000

    /// Made when the first of them comes: most connections have none.
    private var buckets: [TokenBucket] = []
    private var grants = 0

    /// A DATA frame went out, for which window will be granted.
    mutating func sent() { grants = min(Self.maxGrants, grants + Self.grantsPerFrame) }

    /// - Returns: false where it is one too many.
    mutating func takes(_ flood: Flood, now: Int) -> Bool {
        if flood == .windowUpdate, grants > 0 {
            grants -= 1
            return true
        }
        if buckets.isEmpty { buckets = Flood.allCases.map { TokenBucket($0.measure, now: now) } }
        guard buckets[flood.rawValue].left(flood.measure, now: now) >= 1 else { return false }
        buckets[flood.rawValue].take(flood.measure, now: now)
        return true
    }
}
