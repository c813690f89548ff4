/// Estimates the bandwidth-delay product of a long path, as gRPC does: the bytes that arrive while a PING is out. Times in
/// milliseconds, counts in bytes.
struct BandwidthEstimator {
    /// The minimum round trip. The initial windows fill a shorter path.
    private static let long = 4
    /// The bytes of bodies that start a measurement.
    private static let least = 8 << 10
    /// The pause after a short round trip.
    private static let pause = 500
    private static let most = FlowWindows.mostSpare

    /// The window that fills the path.
    private(set) var window = FlowWindows.stream
    /// The time of the PING that is out.
    private var since: Int?
    /// The bytes since then, or since the last result.
    private var bytes = 0
    private var pausedUntil = 0

    /// Counts body bytes.
    /// - Returns: true if a PING has to be sent.
    mutating func came(_ count: Int, now: Int) -> Bool {
        bytes += count
        guard since == nil, bytes >= Self.least, now >= pausedUntil else { return false }
        since = now
        bytes = 0
        return true
    }

    /// Handles the acknowledgement of the PING.
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
