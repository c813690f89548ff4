public import Authorization

/// Keeps `SharedLogins` for all who use the same: asked only where something of it is wanted. One for each loop.
public protocol SharedLoginStore<Gain>: AnyObject {
    associatedtype Gain: LoginGain

    func change<Result>(_ body: (inout SharedLogins<Gain>) -> Result) -> Result
    /// A place among those who wait for that. Whoever has it is told when to ask again. Nil where there is no room.
    func enter(_ obstacle: SharedLogins<Gain>.Obstacle) -> FlightTicket?
    func leave(_ ticket: FlightTicket)
}
