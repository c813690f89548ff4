import Configuration
import Observation

extension LogSettings {
    /// What of an exchange is written: what happened on its way is told from `info` on.
    var detail: AccessLog.Detail {
        if access == .none { return .none }
        return level == .info || level == .debug ? .events : .exchanges
    }
}
