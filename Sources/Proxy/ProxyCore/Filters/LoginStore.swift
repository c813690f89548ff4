public import Authorization
public import Interception

/// Remembers for all loops how AM took the answers that it got. Each loop has one. It is used only when a step-up's login begins
/// or ends.
public protocol LoginStore: AnyObject {
    func begin(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission
    /// Asks the same for a login that was granted and continues.
    func begin(again key: Lockout.Key, _ limits: Lockout.Limits) -> LoginPermission
    /// The state of a waiting login.
    func look(_ ticket: WaitingTicket) -> LoginPermission
    /// Takes a login out of the queue.
    func leave(_ ticket: WaitingTicket)
    /// The reason and the time for which no login begins now; nil if one may begin or queue. Requests no turn.
    func pause(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission?
    /// AM reports success, or continues after a person's answer; the verdict comes later.
    func grant(_ key: Lockout.Key, _ limits: Lockout.Limits)
    func end(_ key: Lockout.Key, _ verdict: Lockout.Verdict, granted: Bool, _ limits: Lockout.Limits)
}
