public import EventLoop

/// The reason why a name has no address.
public enum NameFailure: Error, Equatable, Sendable {
    /// The name is unknown. The text explains it; `rcode` is the DNS code of a server (RFC 1035 §4.1.1).
    case unknown(String, rcode: String?)
    /// No server answered in time.
    case timedOut
    /// The limit of lookups in progress is reached.
    case overloaded
    /// The client's limit of lookups in progress is reached, and so is that of its queue.
    case tooMany
}

/// The answer to a question. Both families are asked at once, and each is reported when it is known (RFC 8305 §3). So there
/// may be two answers; the last one is marked as complete.
public struct NameAnswer: Equatable, Sendable {
    public let host: String
    /// The addresses in the order to try them, behind those of the previous answer. Ports are 0.
    public let addresses: [SocketAddress]
    /// The time to live in seconds.
    public let timeToLive: Int
    /// Whether this is the last answer.
    public let isComplete: Bool
    /// The reason if there is no address at all.
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

/// The family of addresses that is asked for.
struct NameQuestion: Hashable {
    enum Family { case v4, v6 }

    let host: String
    let family: Family
}

/// The result of one question.
enum NameOutcome: Equatable {
    /// The addresses. `name` is the name that has them, which may come from the search list.
    case found([SocketAddress], name: String, timeToLive: Int)
    /// The name exists without an address of this family.
    case empty
    case missing
    /// A server refused to answer, with the code's text.
    case refused(String, rcode: String)
    case timedOut
    /// No server could be asked, or the question or the answer is invalid.
    case failed(String)

    /// Ranks two outcomes: the higher one explains more.
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
