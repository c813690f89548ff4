/// The numbers that are kept of a flow. 0 where there is none, or nobody knows.
/// Their order is on disks, too: whoever changes it, and not how many there are, raises `FlowArchive.version`.
public enum FlowNumber: Int, CaseIterable, Sendable {
    /// The flow's id, as the log and `Usher-Flow` have it in hexadecimal digits.
    case id
    /// Of a call of Usher's own: the flow that it was made for.
    case parent
    /// Counts what the journal takes in, from 1; what `since` of a query goes by.
    case sequence
    /// Milliseconds since 1970.
    case began
    /// Milliseconds from the request's first byte to the end of its answer.
    case duration
    /// Of what was delivered.
    case status
    /// Of what the origin answered, where interceptors changed it.
    case answerStatus
    case port
    /// 1 for http, 2 for https.
    case scheme
    /// Bytes that came of the request's body, whether they are kept or not.
    case requestBytes
    /// Bytes of the answer's body that the client was sent.
    case responseBytes
    case sentBytes
    case answerBytes
    case attempts
    /// One more than the milliseconds, from the beginning on, after which a phase began, or something came.
    case resolving, connecting, securing, sent, answered
    /// `FlowFlags`.
    case flags
    /// In a batch: one more than the index of its events.
    case events
}

/// What is so of a flow, or not.
public struct FlowFlags: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// HTTP/1.0 on the client's side, on the origin's.
    public static let oldClient = FlowFlags(rawValue: 1 << 0)
    public static let oldOrigin = FlowFlags(rawValue: 1 << 1)
    /// HTTP/2.
    public static let newClient = FlowFlags(rawValue: 1 << 16)
    public static let newOrigin = FlowFlags(rawValue: 1 << 17)
    /// Usher answered in the origin's place.
    public static let local = FlowFlags(rawValue: 1 << 2)
    /// What is kept of a body is its beginning, or nothing.
    public static let requestBodyCut = FlowFlags(rawValue: 1 << 3)
    public static let sentBodyCut = FlowFlags(rawValue: 1 << 4)
    public static let answerBodyCut = FlowFlags(rawValue: 1 << 5)
    public static let responseBodyCut = FlowFlags(rawValue: 1 << 6)
    /// The connection to the origin had served another request before.
    public static let reused = FlowFlags(rawValue: 1 << 7)
    /// The client did not get the whole answer.
    public static let incomplete = FlowFlags(rawValue: 1 << 8)
    /// What the client sent went out changed; what came from the origin was delivered changed.
    public static let requestEdited = FlowFlags(rawValue: 1 << 9)
    public static let responseEdited = FlowFlags(rawValue: 1 << 10)
    /// A CONNECT that was not opened, or another protocol after an Upgrade.
    public static let tunnel = FlowFlags(rawValue: 1 << 11)
    /// The body is in a content coding; in a batch alone, since what is kept is in none.
    public static let requestEncoded = FlowFlags(rawValue: 1 << 13)
    public static let responseEncoded = FlowFlags(rawValue: 1 << 14)
    /// One attempt of a flow that was sent again: its parent is that flow, and its request the one that went out.
    public static let attempt = FlowFlags(rawValue: 1 << 15)
    /// An interceptor broke the answer or its end; had it wait, or go slowly.
    public static let faulted = FlowFlags(rawValue: 1 << 18)
    public static let slowed = FlowFlags(rawValue: 1 << 19)
    /// AM granted something in a step-up, and did not approve the transaction.
    public static let notApproved = FlowFlags(rawValue: 1 << 20)
    /// Taken by a step-up, or a login of Usher's own.
    public static let steppedUp = FlowFlags(rawValue: 1 << 12)
    /// Something of it is not kept: the secrets in it cannot all be found, or to look for them took too many steps.
    public static let unread = FlowFlags(rawValue: 1 << 21)
}
