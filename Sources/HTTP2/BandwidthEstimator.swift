/// How much a stream has to have under way for a long path to be full: what comes while a PING is out (as gRPC finds it). Times in
/// milliseconds, counts in bytes.
struct BandwidthEstimator {
    /// A shorter way is full with the windows that all streams have.
    private static let long = 4
    /// Bytes of bodies after which it is measured.
    private static let least = 8 << 10
    /// How long it is not once the way was found to be short.
    private static let pause = 500
    private static let most = FlowWindows.mostSpare

    /// What a window should be that is full once in a round trip.
    private(set) var window = FlowWindows.stream
    /// When the PING went out that is not answered.
    private var since: Int?
    /// What has come since then, or since the last answer.
    private var bytes = 0
    private var pausedUntil = 0

    /// So much of a body has come.
    /// - Returns: true where a PING is to go out.
    mutating func came(_ count: Int, now: Int) -> Bool {
        bytes += count
        guard since == nil, bytes >= Self.least, now >= pausedUntil else { return false }
        since = now
        bytes = 0
        return true
    }

    /// The PING was answered.
    mutating func answered(now: Int) {
        guard let since else { return }
        self.since = nil
        if now - since < Self.long {
            pausedUntil = now + Self.pause
        } else if bytes * 3 >= window * 2 {
            window = min(4 * bytes, Self.most)
        }
        bytes = 0
    }
}
