import Authorization

/// A login store for one run without a network, which no other exchange shares.
final class DryLogins<Gain: LoginGain>: SharedLoginStore {
    private var logins = SharedLogins<Gain>()

    func change<Result>(_ body: (inout SharedLogins<Gain>) -> Result) -> Result { body(&logins) }
    func enter(_ obstacle: SharedLogins<Gain>.Obstacle) -> FlightTicket? { nil }
    func leave(_ ticket: FlightTicket) {}
}
