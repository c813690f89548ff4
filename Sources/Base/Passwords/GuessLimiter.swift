public import Addresses

/// Limits password guesses. A guess takes a try of the client's network, of the site around it, and of the named user; many
/// users at one address or many addresses at one user do not help. A user that logged in recently from a network has tries
/// of its own there. A try is taken before the check and given back if the password is right, so simultaneous guesses count
/// as well.
public struct GuessLimiter: Sendable {
    /// The keys that a guess is counted by.
    public struct Guess: Hashable, Sendable {
        fileprivate let client: IPAddress?
        fileprivate let user: [UInt8]

        /// - Parameter user: a digest of the name, which the client chooses.
        public init(client: IPAddress?, user: [UInt8]) {
            self.client = client
            self.user = user
        }

        fileprivate var pair: Pair { Pair(network: client?.clientNetwork, user: user) }
    }

    fileprivate struct Pair: Hashable, Sendable {
        let network: AddressBlock?
        let user: [UInt8]
    }

    public enum Outcome: Equatable, Sendable {
        /// A try was left.
        /// - Parameter isProven: the user logged in recently from there.
        case taken(isProven: Bool)
        /// No try is left for so many milliseconds.
        case wait(Int)
    }

    private var networks: TokenBuckets<AddressBlock>
    private var sites: TokenBuckets<AddressBlock>
    private var users: TokenBuckets<[UInt8]>
    private var pairs: TokenBuckets<Pair>
    private var proven: RecentSet<Pair>

    /// - Parameters:
    ///   - burst: tries of a network; a user has twice, a site four times as many.
    ///   - interval: milliseconds until one try comes back; at a site four come back.
    ///   - capacity: entries of each table.
    ///   - memory: milliseconds for which a login counts as recent.
    public init(burst: Int = 10, interval: Int = 5_000, capacity: Int = 4096, memory: Int = 12 * 3_600_000) {
        networks = TokenBuckets(burst: burst, interval: interval, capacity: capacity)
        sites = TokenBuckets(burst: burst * 4, interval: interval / 4, capacity: capacity)
        users = TokenBuckets(burst: burst * 2, interval: interval, capacity: capacity)
        pairs = TokenBuckets(burst: burst, interval: interval, capacity: capacity)
        proven = RecentSet(life: memory, capacity: capacity)
    }

    /// The number of entries in the largest table.
    public var count: Int { max(networks.count, sites.count, users.count, pairs.count, proven.count) }

    public func isProven(_ guess: Guess, now: Int) -> Bool { proven.holds(guess.pair, now: now) }

    /// Milliseconds until a try is left; 0 if one is.
    /// - Parameter now: milliseconds of a monotonic clock.
    public func wait(_ guess: Guess, now: Int) -> Int {
        if isProven(guess, now: now) { return pairs.wait(guess.pair, now: now) }
        let wait = users.wait(guess.user, now: now)
        guard let client = guess.client else { return wait }
        return max(wait, networks.wait(client.clientNetwork, now: now), sites.wait(client.siteNetwork, now: now))
    }

    /// Takes a try.
    public mutating func take(_ guess: Guess, now: Int) -> Outcome {
        let wait = wait(guess, now: now)
        guard wait == 0 else { return .wait(wait) }
        if isProven(guess, now: now) {
            pairs.take(guess.pair, now: now)
            return .taken(isProven: true)
        }
        users.take(guess.user, now: now)
        if let client = guess.client {
            networks.take(client.clientNetwork, now: now)
            sites.take(client.siteNetwork, now: now)
        }
        return .taken(isProven: false)
    }

    /// Returns the try, because the password was right.
    public mutating func giveBack(_ guess: Guess, isProven: Bool, now: Int) {
        if isProven { return pairs.giveBack(guess.pair, now: now) }
        users.giveBack(guess.user, now: now)
        if let client = guess.client {
            networks.giveBack(client.clientNetwork, now: now)
            sites.giveBack(client.siteNetwork, now: now)
        }
    }

    /// Records that the user showed its password.
    public mutating func proved(_ guess: Guess, now: Int) { proven.remember(guess.pair, now: now) }
}
