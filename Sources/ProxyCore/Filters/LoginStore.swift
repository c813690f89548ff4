public import Authorization

/// Remembers how AM took the answers that it was given, for all loops: one for each loop. Asked only where a step-up's login
/// begins or ends.
public protocol LoginStore: AnyObject {
    func begin(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission
    /// The same for one that was granted and goes on.
    func begin(again key: Lockout.Key, _ limits: Lockout.Limits) -> LoginPermission
    /// What became of one that waits.
    func look(_ ticket: FlightTicket) -> LoginPermission
    /// It does not wait any more.
    func leave(_ ticket: FlightTicket)
    /// Why none begins now, and for how long; nil where one may begin, now or after others. Asks for none.
    func pause(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission?
    /// AM says that it succeeded, or goes on when a person has spoken; what decides it is to come.
    func grant(_ key: Lockout.Key, _ limits: Lockout.Limits)
    func end(_ key: Lockout.Key, _ verdict: Lockout.Verdict, granted: Bool, _ limits: Lockout.Limits)
}
