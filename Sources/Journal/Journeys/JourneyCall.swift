/// A call behind a login that goes by what was won: a code, tokens, their renewal, the end.
public struct JourneyCall: Sendable {
    public let flow: PackedFlow
    /// What came with its answer.
    public let won: [JourneyToken]
    /// By which it is known to belong to its journey: the session of an AUTHORIZE, the code of an EXCHANGE_TOKEN. Nil in the
    /// first of a journey whose login is not known.
    public let given: SecretAlias?
}
