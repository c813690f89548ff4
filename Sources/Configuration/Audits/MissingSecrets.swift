/// What becomes of a reference whose secret is not there: a variable that is not set, a file that is missing or that this
/// user may not read.
public enum MissingSecrets: Sendable {
    /// It is a fault: who serves needs the secret.
    case refused
    /// A note says so, and some text stands in: who only looks at a configuration needs no secret.
    case noted
}
