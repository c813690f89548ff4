import Control
import Formats

/// That a command waits for flows: for so many, and no longer than a time.
public struct FlowWait {
    private let count: Int
    private let milliseconds: Int

    /// What stands behind `--timeout`.
    public static let form = "a duration from 1ms to \(Units.duration(ControlLimits.longestWait)), as in 10s"

    /// - Returns: nil where the timeout is none.
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

    public func path(_ terms: FlowTerms) -> String {
        terms.path("/v1/flows", [("wait", count), ("timeout", milliseconds), ("limit", 1)])
    }

    /// Milliseconds in which the daemon has answered in any case.
    public var limit: Int { milliseconds + ControlLimits.work }
}
