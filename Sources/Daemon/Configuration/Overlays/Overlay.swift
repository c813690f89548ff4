internal import Authorization
public import Expectations
internal import Interception
public import ProxyCore

/// What a test session adds to the configuration.
public struct Overlay: Sendable {
    /// Interceptors that run before those of the configuration, and after them.
    var before: [Rule] = []
    var after: [Rule] = []
    /// Answers to callbacks, which come before those of each entry of `authorization`.
    var answers: [AuthorizationPolicy.CallbackAnswer] = []
    var tokens: [TokenSource] = []
    /// Beside those of the configuration.
    public internal(set) var expectations: [Expectation] = []
    /// Values of its references, which may be secrets.
    public internal(set) var secrets: [String] = []
    public internal(set) var warnings: [Diagnostic] = []

    public init() {}

    /// The interceptors' names, those that run first first.
    public var names: [String] { (before + after).map(\.name) }

    /// The settings of a session: those of the configuration, with its interceptors counting from the beginning, and the overlay.
    /// An interceptor of the overlay replaces one of the same name.
    /// - Parameter robot: the test user of the session, whose answers come after those of the overlay.
    public func settings(on base: Settings, _ robot: Robot?) -> Settings {
        var settings = base
        let replaced = Set(names)
        settings.rules = before + base.rules.filter { !replaced.contains($0.name) }.map(\.restarted) + after
        for index in settings.authorization.indices {
            settings.authorization[index].answers.insert(
                contentsOf: answers + (robot?.answers ?? []), at: 0)
        }
        if !tokens.isEmpty { settings.tokens = TokenPolicy(tokens + (base.tokens?.sources ?? [])) }
        settings.disclosure.secrets += secrets
        return settings
    }
}
