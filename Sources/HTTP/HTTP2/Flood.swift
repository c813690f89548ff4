import Formats
import HTTPCodec

/// Frames that are cheap to send and costly to handle, and that belong to no message. Each kind has a burst and a rate. One more
/// ends the connection (ENHANCE_YOUR_CALM).
enum Flood: Int, CaseIterable {
    /// Streams that the peer resets before the response, and those that are reset for its errors.
    case reset
    /// Streams beyond the limit.
    case refusal
    case ping
    /// SETTINGS and GOAWAY.
    case settings
    /// WINDOW_UPDATE beyond the expected ones; see `FloodGuard.sent`.
    case windowUpdate
    case priority
    /// DATA without data and END_STREAM.
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

/// Counts frames of each flood kind.
struct FloodGuard {
    /// The limit of CONTINUATION frames after a HEADERS frame. Even the smallest allowed frames need fewer for a valid head.
    static let maxContinuations = 8
    /// The limit of decompressed fields, as a multiple of the head limit.
    static let maxUnfolding = 8
    /// The WINDOW_UPDATE frames expected for each DATA frame: one for the stream and one for the connection. The number is
    /// doubled for peers that grant in two steps.
    private static let grantsPerFrame = 4
    private static let maxGrants = 10_000

    /// Created with the first frame; most connections have none.
    private var buckets: [TokenBucket] = []
    private var grants = 0

    /// Records a DATA frame that was sent, for which the peer grants window.
    mutating func sent() { grants = min(Self.maxGrants, grants + Self.grantsPerFrame) }

    /// - Returns: false if the limit is exceeded.
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
