public import Authorization

/// Remembers how AM took the answers that it was given. Shared by all loops; asked only where a step-up's login begins
/// or ends.
public protocol LoginMemory: AnyObject, Sendable {
    func begin(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission
    func end(_ key: Lockout.Key, _ verdict: Lockout.Verdict, _ limits: Lockout.Limits)
}

public enum LoginPermission: Sendable {
    /// Under way from now on, until it is ended by this key.
    case go(Lockout.Key)
    case later
    case held(refusals: Int, milliseconds: Int)
}
