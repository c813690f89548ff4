/// What a login wins.
public protocol LoginGain: Sendable {
    associatedtype Key: LoginKey

    /// How many of them are kept.
    static var most: Int { get }
    /// How many logins of one owner may be under way at a time; the others wait for a place.
    static var mostUnderWay: Int { get }
    /// Why no other is asked for: one sentence, for one that had just been won was refused as well.
    static var notAgain: String { get }

    /// It is good until then, in seconds since 1970.
    func lasts(_ key: Key, until seconds: Int) -> Bool
    /// It ends so soon that it is to be replaced while it lasts.
    func isDue(_ key: Key, at seconds: Int) -> Bool
    /// Once it is over it helps to win another.
    var renews: Bool { get }
}

/// What a login is for.
public protocol LoginKey: Hashable, Sendable {
    associatedtype Owner: Hashable & Sendable

    /// Whose it is. Room is shared out among these, so that nobody pushes out what is another's.
    var owner: Owner { get }
    /// Milliseconds that the whole of it may take.
    var hold: Int { get }
    /// Milliseconds for which nobody tries again what was refused.
    var coolDown: Int { get }
}

/// When something is asked.
public struct LoginTime: Sendable {
    /// Of a clock that only goes on.
    public let milliseconds: Int
    /// Since 1970.
    public let seconds: Int

    public init(milliseconds: Int, seconds: Int) {
        self.milliseconds = milliseconds
        self.seconds = seconds
    }
}
