internal import HTTPCodec

/// Bounds of the interface. Each of its doors has its own connections and followers, so that whoever crowds one leaves the
/// other free.
public enum ControlLimits {
    /// Connections at a time: more than stay, so that others are answered.
    public static let connections = 40
    /// Of them, those that follow events.
    public static let followers = 16
    /// And those that wait for flows.
    public static let waiters = 16
    /// Milliseconds for a request to come whole, and between two of them.
    public static let time = 10_000
    /// Milliseconds for an answer that somebody else makes.
    public static let work = 10_000
    /// Milliseconds that a list of flows is waited for at most, and where nobody says.
    public static let longestWait = 60_000
    public static let usualWait = 10_000
    /// Milliseconds that a wait is kept past its time, so that its end is told as a 504 and not by its going.
    public static let waitGrace = 1_000
    /// Milliseconds for a request that is sent again to be answered.
    public static let replay = 30_000
    /// Bytes of a body.
    public static let body = 64 << 10
    /// Bytes of further requests that may come before an answer is made.
    public static let ahead = 72 << 10
    static let head = HeadLimits(bytes: 8 << 10, fields: 64, target: 4 << 10)
    /// Milliseconds in which a client closes that was told so.
    public static let farewell = 2_000
    /// Bytes of events that wait for one follower.
    public static let feed = 256 << 10
    /// Milliseconds between signs of life on a quiet stream.
    public static let heartbeat = 15_000
    /// Milliseconds that a follower may take nothing of what it is sent.
    public static let stalled = 30_000
}
