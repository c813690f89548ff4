public import HTTPCodec

/// What a phase knows of its exchange beside the messages. A value: a phase that is tried on copies leaves no trace.
public struct EditContext {
    public var classification: Classification?
    /// The request's body as it was sent, in the response phase; nil where nobody kept it.
    public var sentBody: EditedBody.Arrival?
    /// What a further attempt would begin with, in the response phase of a plan that runs code of others.
    public var basis: RequestHead?
    /// What interceptors keep for as long as the exchange lasts; nil until one does.
    public var state: ExchangeState?
    /// By the calendar, in seconds since 1970.
    public var time: Int
    /// Of a body, in bytes: as it came, out of its codings, and as it goes on.
    public var bodyLimit: Int
    public var chance: any RandomNumberGenerator
    /// The interceptor whose own call the exchange is: it has no part in that.
    public var issuer: String?
    /// It is seen what would come of a phase, on copies: nobody is answered by that.
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

    /// For what is seen on copies.
    var trial: EditContext {
        var trial = self
        trial.isTrial = true
        return trial
    }

    /// What was decided of interceptors. It outlasts a phase that is tried on copies.
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
