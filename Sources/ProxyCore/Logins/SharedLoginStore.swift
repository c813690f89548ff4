/// Keeps `SharedLogins` for all who use the same: asked only where something of it is wanted.
public protocol SharedLoginStore<Gain>: AnyObject {
    associatedtype Gain: LoginGain

    func change<Result>(_ body: (inout SharedLogins<Gain>) -> Result) -> Result
}
