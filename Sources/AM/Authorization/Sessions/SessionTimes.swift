internal import Formats

/// The lifetime of a session in milliseconds, from AM's response on.
public struct SessionTimes: Equatable, Sendable {
    public var idle: Int
    public var total: Int

    public init(idle: Int, total: Int) {
        self.idle = idle
        self.total = total
    }

    /// Reads AM's times. All of them are relative to AM's own clock, so that the clock may be wrong.
    init?(_ info: JSONValue) {
        func time(_ name: String) -> Int? { info[name]?.text.flatMap { CalendarTime.seconds(ofInternet: $0) } }
        guard let now = time("latestAccessTime"), let idle = time("maxIdleExpirationTime"),
            let total = time("maxSessionExpirationTime"), idle > now, total > now
        else { return nil }
        self.init(idle: (idle - now).clamped * 1000, total: (total - now).clamped * 1000)
    }

    /// The shorter of the two.
    public var lasts: Int { min(idle, total) }
    /// The time to renew it: a minute before its end, or after three quarters of a shorter lifetime.
    public var due: Int { Self.due(of: lasts) }

    public static func due(of time: Int) -> Int { time - min(60_000, time / 4) }
}

extension Int {
    /// Limits seconds to ten years, which avoids overflow.
    fileprivate var clamped: Int { Swift.min(self, 315_360_000) }
}
