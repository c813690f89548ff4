import Authorization
import Interception
import ProxyCore

/// The `config` steps of a playbook.
enum PlaybookSettings {
    static func named(_ name: String) -> Settings? {
        switch name {
        case "plain": Settings()
        // http://shop.test/api/* is protected; its AM is http://am.test/am; NameCallback and PasswordCallback are answered
        case "step-up": stepUpSettings()
        default: nil
        }
    }

    /// - Returns: false for a key that is none.
    static func change(_ settings: inout Settings, _ key: String, _ value: String) -> Bool {
        let words = value.split(separator: " ", maxSplits: 1).map(String.init)
        let number = Int(value) ?? 0
        switch key {
        case "limits.body": settings.limits.body = UInt64(number)
        case "limits.retries": settings.limits.retries = number
        case "limits.header": settings.limits.header = number
        case "timeouts.connect": settings.timeouts.connect = number
        case "timeouts.header": settings.timeouts.header = number
        case "timeouts.idle": settings.timeouts.idle = number
        case "timeouts.response": settings.timeouts.response = number
        case "timeouts.tls": settings.timeouts.tls = number
        case "timeouts.tunnel_idle": settings.timeouts.tunnelIdle = number
        case "hold": settings.authorization[0].hold = number
        case "steps": settings.authorization[0].maxSteps = number
        case "answer_limit": settings.authorization[0].maxResponseBytes = number
        case "body_limit": settings.authorization[0].maxBodyBytes = number
        case "intercept":
            guard let host = DestinationPattern(value) else { return false }
            settings.interception.hosts.append(host)
        case "resource": settings.authorization[0].resources = [.init(url: value)]
        case "answer":
            guard words.count == 2 else { return false }
            settings.authorization[0].answers.append(.init(callback: words[0], response: .value(words[1])))
        case "set_header":
            guard words.count == 2 else { return false }
            settings.rules.append(.init(name: "set", request: [SetHeader([.init(words[0], words[1])])]))
        default: return false
        }
        return true
    }
}
