public import EventLoop

/// Why a name has no address.
public enum NameFailure: Error, Equatable, Sendable {
    /// In words, and as DNS calls it (RFC 1035 §4.1.1) where a server said so.
    case unknown(String, rcode: String?)
    /// No server answered in time.
    case timedOut
    /// Too many names are being looked up.
    case overloaded
    /// So many names are being looked up for this client that it has to wait.
    case tooMany
}

/// What became of a question. Both families are asked for at once, and each is told as soon as it is known (RFC 8305 §3), so
/// there may be two answers; the last one is marked as complete.
public struct NameAnswer: Equatable, Sendable {
    public let host: String
    /// In the order to try them, behind those of the answer before. Ports are 0.
    public let addresses: [SocketAddress]
    /// How long they may be kept, in seconds.
    public let timeToLive: Int
    /// Nothing more follows.
    public let isComplete: Bool
    /// Set where there is no address at all.
    public let failure: NameFailure?

    public init(
        host: String, addresses: [SocketAddress], timeToLive: Int, isComplete: Bool = true, failure: NameFailure? = nil
    ) {
        self.host = host
        self.addresses = addresses
        self.timeToLive = timeToLive
        self.isComplete = isComplete
        self.failure = failure
    }
}

/// Which addresses of a host are asked for.
struct NameQuestion: Hashable {
    enum Family { case v4, v6 }

    let host: String
    let family: Family
}

/// How one question ended.
enum NameOutcome: Equatable {
    /// - `name`: the one that has them, which may be another one of the search list.
    case found([SocketAddress], name: String, timeToLive: Int)
    /// The name exists, but has no such address.
    case empty
    case missing
    /// A server answered that it does not answer, in the code's words.
    case refused(String, rcode: String)
    case timedOut
    /// No server could be asked, or the question or the answer is no good.
    case failed(String)

    /// Which of two explains more.
    private var weight: Int {
        switch self {
        case .found: 5
        case .missing: 4
        case .timedOut: 3
        case .refused: 2
        case .failed: 1
        case .empty: 0
        }
    }

    func explained(by other: NameOutcome) -> NameOutcome { other.weight > weight ? other : self }

    var failure: NameFailure? {
        switch self {
        case .found: nil
        case .empty: .unknown("it has no address", rcode: nil)
        case .missing: .unknown("it does not exist (NXDOMAIN)", rcode: "NXDOMAIN")
        case .refused(let words, let rcode): .unknown("\(words) (\(rcode))", rcode: rcode)
        case .timedOut: .timedOut
        case .failed(let words): .unknown(words, rcode: nil)
        }
    }
}
