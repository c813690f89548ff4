internal import Authorization
internal import HTTPCodec
public import Interception

/// One generation of the configuration, compiled: what sessions decide by. Built once, shared by all loops.
public final class Engine: Sendable {
    public let settings: Settings
    public let classifier: Classifier
    public let plan: Plan
    let headLimits: HeadLimits

    public init(_ settings: Settings) {
        self.settings = settings
        classifier = Classifier(servers: settings.servers, definitions: settings.actions)
        plan = Plan(rules: settings.rules)
        headLimits = HeadLimits(
            bytes: settings.limits.header, fields: settings.limits.headerFields, target: settings.limits.url)
    }

    var authorization: AuthorizationPolicy? { settings.authorization }
}
