/// The result of a login, such as a token or cookies.
public protocol LoginGain: Sendable {
    associatedtype Key: LoginKey

    /// The most results that are kept.
    static var most: Int { get }
    /// The most logins of one owner at a time; further ones wait.
    static var mostUnderWay: Int { get }
    /// The reason not to log in again, as a sentence: a new result was refused as well.
    static var notAgain: String { get }

    /// The result is valid until this time, in seconds since 1970.
    func lasts(_ key: Key, until seconds: Int) -> Bool
    /// The result ends so soon that it is to be replaced now.
    func isDue(_ key: Key, at seconds: Int) -> Bool
    /// An expired result helps to get a new one.
    var renews: Bool { get }
}

/// The purpose of a login.
public protocol LoginKey: Hashable, Sendable {
    associatedtype Owner: Hashable & Sendable

    /// The owner of the result. Room is shared out among owners, so that none displaces another's results.
    var owner: Owner { get }
    /// Milliseconds that the whole login may take.
    var hold: Int { get }
    /// Milliseconds without a new login after a refusal.
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
