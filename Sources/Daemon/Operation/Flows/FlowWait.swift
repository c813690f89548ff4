import Control
import Formats

/// The option to wait for a number of flows, with a timeout.
public struct FlowWait {
    private let count: Int
    public private(set) var milliseconds: Int

    /// The description of `--timeout`.
    public static let form = "a duration from 1ms to \(Units.duration(ControlLimits.longestWait)), such as 10s"

    /// - Returns: nil if the timeout is invalid.
    public init?(_ count: Int, timeout: String?) {
        self.count = count
        guard let timeout else {
            milliseconds = ControlLimits.usualWait
            return
        }
        guard case .value(let time) = Units.read(timeout, Units.times), 1...ControlLimits.longestWait ~= time else {
            return nil
        }
        milliseconds = time
    }

    /// - Parameter after: the sequence number of the last flow that does not count.
    public func path(_ terms: FlowTerms, after: Int? = nil) -> String {
        terms.path(
            "/v1/flows",
            [("wait", count), ("timeout", milliseconds), ("limit", 1)] + (after.map { [("after", $0)] } ?? []))
    }

    /// The wait that is left.
    /// - Parameter start: when it began.
    /// - Returns: nil if its time is over.
    public func rest(since start: ContinuousClock.Instant) -> FlowWait? {
        let passed = (ContinuousClock.now - start) / .milliseconds(1)
        var rest = self
        rest.milliseconds -= Int(passed)
        return rest.milliseconds > 0 ? rest : nil
    }

    /// In milliseconds. The daemon responds within this time.
    public var limit: Int { milliseconds + ControlLimits.work }
}
