/// Happy Eyeballs (RFC 8305): the next address of a host to try, and when. The families take turns. The next attempt starts
/// after the attempt delay, or at once when one fails. No socket and no clock: each call takes the time in milliseconds.
public struct AddressRace: Sendable {
    public enum Step: Equatable, Sendable {
        /// Connect to this address, and report a failure by `failed`.
        case connect(SocketAddress)
        /// Nothing to do before that time; nil: before the next report.
        case wait(until: Int?)
        /// All addresses were tried and no attempt is in progress.
        case exhausted
    }

    private var six: [SocketAddress] = []
    private var four: [SocketAddress] = []
    private var isComplete = false
    private var nextIsSix: Bool?
    private var underWay = 0
    /// The earliest time of the next attempt.
    private var due = Int.min

    /// Connection Attempt Delay, in milliseconds (RFC 8305 §5).
    public static let attemptDelay = 250
    /// Resolution Delay, in milliseconds (RFC 8305 §3): IPv4 addresses wait so long for IPv6 ones.
    public static let resolutionDelay = 50
    /// The most addresses of one family that are tried.
    private static let most = 16

    public init() {}

    /// Adds addresses in the order to try them. The family of the first one leads.
    /// - Parameter isComplete: true if no more addresses follow.
    public mutating func add(_ addresses: [SocketAddress], isComplete: Bool, now: Int) {
        self.isComplete = isComplete
        for address in addresses {
            if address.isIPv6 {
                if six.count < Self.most, !six.contains(address) { six.append(address) }
            } else {
                if four.count < Self.most, !four.contains(address) { four.append(address) }
            }
        }
        guard nextIsSix == nil, let first = addresses.first else { return }
        nextIsSix = first.isIPv6
        if !first.isIPv6, !isComplete { due = now + Self.resolutionDelay }
    }

    /// Returns the next step. Call it until it says to wait, and after each change.
    public mutating func next(now: Int) -> Step {
        guard !six.isEmpty || !four.isEmpty else {
            return isComplete && underWay == 0 ? .exhausted : .wait(until: nil)
        }
        if now < due {
            // before the first attempt it waits for the other family, until that is known
            guard underWay == 0, isComplete || !six.isEmpty else { return .wait(until: due) }
            if !six.isEmpty { nextIsSix = true }
        }
        let takesSix = four.isEmpty || (nextIsSix ?? true) && !six.isEmpty
        nextIsSix = !takesSix
        underWay += 1
        due = now + Self.attemptDelay
        return .connect(takesSix ? six.removeFirst() : four.removeFirst())
    }

    /// Records a failed or skipped attempt; the next one may start at once.
    public mutating func failed(now: Int) {
        underWay -= 1
        due = now
    }
}
