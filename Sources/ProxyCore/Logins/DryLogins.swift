/// What logins won in one run without a network.
final class DryLogins<Gain: LoginGain>: SharedLoginStore {
    private var logins = SharedLogins<Gain>()

    func change<Result>(_ body: (inout SharedLogins<Gain>) -> Result) -> Result { body(&logins) }
}
