public import Authorization

/// Keeps `SharedLogins` for all loops; each loop has a store. It is used only when a request needs a login's result.
public protocol SharedLoginStore<Gain>: AnyObject {
    associatedtype Gain: LoginGain

    func change<Result>(_ body: (inout SharedLogins<Gain>) -> Result) -> Result
    /// Takes a place in the queue; its holder is told when to ask again. Nil if the queue is full.
    func enter(_ obstacle: SharedLogins<Gain>.Obstacle) -> FlightTicket?
    func leave(_ ticket: FlightTicket)
}
