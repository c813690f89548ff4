import Authorization

/// What logins won in one run without a network: nobody else is there to be waited for.
final class DryLogins<Gain: LoginGain>: SharedLoginStore {
    private var logins = SharedLogins<Gain>()

    func change<Result>(_ body: (inout SharedLogins<Gain>) -> Result) -> Result { body(&logins) }
    func enter(_ obstacle: SharedLogins<Gain>.Obstacle) -> FlightTicket? { nil }
    func leave(_ ticket: FlightTicket) {}
}
