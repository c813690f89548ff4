/// What a request carries or uses to be let in, such as a token, a cookie or a session.
public protocol Credential: Sendable {
    associatedtype Key: CredentialKey

    /// The most credentials that are kept.
    static var most: Int { get }
    /// The most fetches of one owner at a time; further ones wait.
    static var mostUnderWay: Int { get }
    /// The reason not to fetch again, as a sentence: a new credential was refused as well.
    static var notAgain: String { get }
    /// Milliseconds in which a refusal does not count, as the credential is new.
    static var youth: Int { get }
    /// A refusal ends the credential. If false, it only has another one fetched, and the old one serves until that is there.
    static var endsByRefusal: Bool { get }

    /// The credential is valid at this time.
    func lasts(_ key: Key, at now: LoginTime) -> Bool
    /// The credential ends so soon that it is to be replaced now.
    func isDue(_ key: Key, at now: LoginTime) -> Bool
    /// An expired credential helps to get a new one.
    var renews: Bool { get }
    /// Later requests may use it. If false, it is for those who waited for it.
    var isKept: Bool { get }
}

extension Credential {
    public static var youth: Int { 0 }
    public static var endsByRefusal: Bool { true }
    public var renews: Bool { false }
    public var isKept: Bool { true }
}

/// Identifies a credential by everything that tells its users apart.
public protocol CredentialKey: Hashable, Sendable {
    associatedtype Owner: Hashable & Sendable

    /// The owner of the credential. Room is shared out among owners, so that none displaces another's credentials.
    var owner: Owner { get }
    /// Milliseconds that the whole fetch may take.
    var hold: Int { get }
    /// Milliseconds without a new fetch after a refusal.
    var coolDown: Int { get }
}

/// The current time, on two clocks.
public struct LoginTime: Sendable {
    /// Milliseconds of a monotonic clock.
    public let milliseconds: Int
    /// Seconds since 1970.
    public let seconds: Int

    public init(milliseconds: Int, seconds: Int) {
        self.milliseconds = milliseconds
        self.seconds = seconds
    }
}
