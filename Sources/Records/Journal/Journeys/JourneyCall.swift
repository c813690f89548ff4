/// A later call of a journey that uses its tokens: a code, tokens, a refresh, or the end.
public struct JourneyCall: Sendable {
    public let flow: PackedFlow
    /// The tokens in its response.
    public let won: [JourneyToken]
    /// The secret that links it to the journey: the session of an AUTHORIZE, the code of an EXCHANGE_TOKEN. Nil for the first
    /// call of a journey without a known login.
    public let given: SecretAlias?
}
