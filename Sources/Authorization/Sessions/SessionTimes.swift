internal import Formats

/// How long a session lasts, in milliseconds from when AM told it.
public struct SessionTimes: Equatable, Sendable {
    public var idle: Int
    public var total: Int

    public init(idle: Int, total: Int) {
        self.idle = idle
        self.total = total
    }

    /// What AM tells of a session. All three are by AM's own clock, so that it may go wrong.
    init?(_ info: JSONValue) {
        func time(_ name: String) -> Int? { info[name]?.text.flatMap { CalendarTime.seconds(ofInternet: $0) } }
        guard let now = time("latestAccessTime"), let idle = time("maxIdleExpirationTime"),
            let total = time("maxSessionExpirationTime"), idle > now, total > now
        else { return nil }
        self.init(idle: (idle - now).clamped * 1000, total: (total - now).clamped * 1000)
    }

    /// Whichever comes first.
    public var lasts: Int { min(idle, total) }
    /// When it is renewed: a minute before its end, or a quarter of it.
    public var due: Int { Self.due(of: lasts) }

    public static func due(of time: Int) -> Int { time - min(60_000, time / 4) }
}

extension Int {
    /// Ten years of seconds are as good as ever.
    fileprivate var clamped: Int { Swift.min(self, 315_360_000) }
}
