public import Authorization

/// Remembers how AM took the answers that it was given. Shared by all loops; asked only where a step-up's login begins
/// or ends.
public protocol LoginStore: AnyObject, Sendable {
    func begin(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission
    /// AM says that it succeeded; the resource's word on it is to come.
    func grant(_ key: Lockout.Key, _ limits: Lockout.Limits)
    func end(_ key: Lockout.Key, _ verdict: Lockout.Verdict, granted: Bool, _ limits: Lockout.Limits)
}

public enum LoginPermission: Sendable {
    /// Under way from now on, until it is ended by this key.
    case go(Lockout.Key)
    case later
    case held(refusals: Int, milliseconds: Int)
}
