/// Happy Eyeballs (RFC 8305): which address of a host to try next, and when. The families take turns; the next attempt
/// begins when the one before has had its time, or at once when one fails. No socket and no clock: every call says what
/// time it is, in milliseconds.
public struct AddressRace: Sendable {
    public enum Step: Equatable, Sendable {
        /// Begin to connect to this address. Told by `failed` when nothing comes of it.
        case connect(SocketAddress)
        /// Nothing to do before that time, or before something is told where it is nil.
        case wait(until: Int?)
        /// Every address was tried and none is being tried any more.
        case exhausted
    }

    private var six: [SocketAddress] = []
    private var four: [SocketAddress] = []
    private var isComplete = false
    private var nextIsSix: Bool?
    private var underWay = 0
    /// When the next attempt may begin.
    private var due = Int.min

    /// Connection Attempt Delay, in milliseconds (RFC 8305 §5).
    public static let attemptDelay = 250
    /// Resolution Delay, in milliseconds (RFC 8305 §3): IPv4 addresses wait so long for IPv6 ones.
    public static let resolutionDelay = 50
    /// Addresses of one family that are tried.
    private static let most = 16

    public init() {}

    /// Takes addresses in, in the order to try them. The first one's family leads.
    /// - Parameter isComplete: no more will be found.
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

    /// Says what to do now. To be asked again until it says to wait, and whenever something has changed.
    public mutating func next(now: Int) -> Step {
        guard !six.isEmpty || !four.isEmpty else {
            return isComplete && underWay == 0 ? .exhausted : .wait(until: nil)
        }
        if now < due {
            // before the first attempt the wait is for the other family, and ends when that is known
            guard underWay == 0, isComplete || !six.isEmpty else { return .wait(until: due) }
            if !six.isEmpty { nextIsSix = true }
        }
        let takesSix = four.isEmpty || (nextIsSix ?? true) && !six.isEmpty
        nextIsSix = !takesSix
        underWay += 1
        due = now + Self.attemptDelay
        return .connect(takesSix ? six.removeFirst() : four.removeFirst())
    }

    /// An attempt has failed, or the address was not even tried: the next one need not wait for it.
    public mutating func failed(now: Int) {
        underWay -= 1
        due = now
    }
}
