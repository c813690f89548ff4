internal import HTTPCodec

/// Limits of the admin API. Each listener has its own connections and followers, so a crowd at one does not block the other.
public enum ControlLimits {
    /// The limit of connections. It exceeds the long-lived ones, so that others are answered.
    public static let connections = 40
    /// The limit of connections that follow events.
    public static let followers = 16
    /// The limit of connections that wait for flows.
    public static let waiters = 16
    /// The time for a request to arrive completely, and between two requests, in milliseconds.
    public static let time = 10_000
    /// The time for an asynchronous response, in milliseconds.
    public static let work = 10_000
    /// The maximum and the default wait for flows, in milliseconds.
    public static let longestWait = 60_000
    public static let usualWait = 10_000
    /// How long a wait outlives its time, in milliseconds, so that its end is answered with 504.
    public static let waitGrace = 1_000
    /// The time for the response to a replayed request, in milliseconds.
    public static let replay = 30_000
    /// The limit of a body in bytes.
    public static let body = 1 << 20
    /// The limit of pipelined requests in bytes.
    public static let ahead = body + 8 << 10
    static let head = HeadLimits(bytes: 8 << 10, fields: 64, target: 4 << 10)
    /// How long a client has to close its side at the end, in milliseconds.
    public static let closingTime = 2_000
    /// The limit of queued events for one follower, in bytes.
    public static let feed = 256 << 10
    /// The interval of heartbeats on a quiet stream, in milliseconds.
    public static let heartbeat = 15_000
    /// How long a follower may read nothing, in milliseconds.
    public static let stalled = 30_000
}
