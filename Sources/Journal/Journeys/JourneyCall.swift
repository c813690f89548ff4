/// A call behind a login that goes by what was won: a code, tokens, their renewal, the end.
public struct JourneyCall: Sendable {
    public let flow: PackedFlow
    /// What it won; what it gave up is in `given`.
    public let won: [JourneyToken]
    /// The alias that ties it to its journey: the session of an AUTHORIZE, the code of an EXCHANGE_TOKEN; nil in the first
    /// of a journey whose login is not known.
    public let given: SecretAlias?
}
