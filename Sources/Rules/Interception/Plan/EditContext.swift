public import HTTPCodec

/// The state of an exchange that a phase uses beside the messages. A struct, so that a trial run on copies leaves no trace.
public struct EditContext {
    public var classification: Classification?
    /// The request's body as it was sent, for the response phase; nil if it was not kept.
    public var sentBody: EditedBody.Arrival?
    /// The head that a retry would start from, for the response phase of plans with Swift interceptors.
    public var basis: RequestHead?
    /// Values that interceptors keep until the exchange ends; nil until one is set.
    public var state: ExchangeState?
    /// Wall-clock time, in seconds since 1970.
    public var time: Int
    /// The limit of a body in bytes: as received, decoded, and as sent on.
    public var bodyLimit: Int
    public var chance: any RandomNumberGenerator
    /// The interceptor whose login made this call. It does not apply to its own calls.
    public var issuer: String?
    /// True for a trial run on copies, which sends no response.
    var isTrial = false

    public init(
        _ classification: Classification? = nil, sentBody: EditedBody.Arrival? = nil, state: ExchangeState? = nil,
        time: Int = 0, bodyLimit: Int = 1 << 20, chance: any RandomNumberGenerator = SystemRandomNumberGenerator(),
        issuer: String? = nil
    ) {
        self.classification = classification
        self.sentBody = sentBody
        self.state = state
        self.time = time
        self.bodyLimit = bodyLimit
        self.chance = chance
        self.issuer = issuer
    }

    /// A copy for a trial run.
    var trial: EditContext {
        var trial = self
        trial.isTrial = true
        return trial
    }

    /// Sampling decisions about interceptors. They outlast a trial run.
    var decisions: RuleMemory {
        get { state?.decisions ?? RuleMemory() }
        set {
            guard newValue != decisions else { return }
            var kept = state ?? ExchangeState()
            kept.decisions = newValue
            state = kept
        }
    }
}
