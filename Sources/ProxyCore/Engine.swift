internal import Authorization
internal import HTTPCodec
public import Interception

/// One generation of the configuration, compiled: what sessions decide by. Built once, shared by all loops.
public final class Engine: Sendable {
    public let settings: Settings
    public let classifier: Classifier
    public let plan: Plan
    let headLimits: HeadLimits
    /// Nil where `usher.proxy` is a host like any other.
    let pages: OwnPages?

    /// This proxy's entry for `Via`, and the name in it by which it knows its own requests.
    let via: [UInt8]
    let pseudonym: String

    public static let defaultPseudonym = "usher"

    /// An entry for `Via` (RFC 9110 §7.6.3).
    public static func via(_ pseudonym: String) -> [UInt8] { Array("1.1 \(pseudonym)".utf8) }

    /// - Parameters:
    ///   - pseudonym: names this process in `Via`, so that a request which comes back is known; a token.
    ///   - pages: what is answered for `usher.proxy`.
    public init(_ settings: Settings, pseudonym: String = Engine.defaultPseudonym, pages: OwnPages? = nil) {
        self.pseudonym = pseudonym
        self.pages = pages
        via = Engine.via(pseudonym)
        self.settings = settings
        classifier = Classifier(servers: settings.servers, definitions: settings.actions)
        plan = Plan(rules: settings.rules)
        headLimits = HeadLimits(
            bytes: settings.limits.header, fields: settings.limits.headerFields, target: settings.limits.url)
    }

    var authorization: AuthorizationPolicy? { settings.authorization }
}
