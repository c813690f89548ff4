import Configuration
import Observation

extension LogSettings {
    /// The logged detail of an exchange: from `info` on, its events are logged.
    var detail: AccessLog.Detail {
        if access == .none { return .none }
        return level == .info || level == .debug ? .events : .exchanges
    }
}
