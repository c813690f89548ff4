/// The stored numbers of a flow; 0 if there is none or it is unknown.
/// Their order is part of the file format: raise `FlowArchive.version` if it changes while the count stays.
public enum FlowNumber: Int, CaseIterable, Sendable {
    /// The flow's id, which the log and `Usher-Flow` show in hexadecimal.
    case id
    /// For a call by Usher: the flow that caused it.
    case parent
    /// The position in the journal, from 1. Queries use it for `since`.
    case sequence
    /// Milliseconds since 1970.
    case began
    /// Milliseconds from the first byte of the request to the end of the response.
    case duration
    /// The status that was delivered.
    case status
    /// The origin's status, if interceptors changed the response.
    case answerStatus
    case port
    /// 1 for http, 2 for https.
    case scheme
    /// Bytes of the request body received, stored or not.
    case requestBytes
    /// Bytes of the response body that were sent to the client.
    case responseBytes
    case sentBytes
    case answerBytes
    case attempts
    /// The start of a phase or the arrival of data: 1 plus the milliseconds since the beginning.
    case resolving, connecting, securing, sent, answered
    /// `FlowFlags`.
    case flags
    /// In a batch: 1 plus the index of the flow's events.
    case events
}

/// Properties of a flow.
public struct FlowFlags: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// HTTP/1.0 on the client's side; on the origin's.
    public static let oldClient = FlowFlags(rawValue: 1 << 0)
    public static let oldOrigin = FlowFlags(rawValue: 1 << 1)
    /// HTTP/2 on the client's side; on the origin's.
    public static let newClient = FlowFlags(rawValue: 1 << 16)
    public static let newOrigin = FlowFlags(rawValue: 1 << 17)
    /// Usher sent the response itself.
    public static let local = FlowFlags(rawValue: 1 << 2)
    /// Only the beginning of the body is stored, or nothing.
    public static let requestBodyCut = FlowFlags(rawValue: 1 << 3)
    public static let sentBodyCut = FlowFlags(rawValue: 1 << 4)
    public static let answerBodyCut = FlowFlags(rawValue: 1 << 5)
    public static let responseBodyCut = FlowFlags(rawValue: 1 << 6)
    /// The origin connection had served an earlier request.
    public static let reused = FlowFlags(rawValue: 1 << 7)
    /// The client did not receive the whole response.
    public static let incomplete = FlowFlags(rawValue: 1 << 8)
    /// The request was changed before it was sent; the response was changed before delivery.
    public static let requestEdited = FlowFlags(rawValue: 1 << 9)
    public static let responseEdited = FlowFlags(rawValue: 1 << 10)
    /// A CONNECT tunnel that was not decrypted, or another protocol after an Upgrade.
    public static let tunnel = FlowFlags(rawValue: 1 << 11)
    /// The body has a content coding. Used in batches only, because stored bodies are decoded.
    public static let requestEncoded = FlowFlags(rawValue: 1 << 13)
    public static let responseEncoded = FlowFlags(rawValue: 1 << 14)
    /// One attempt of a flow that was sent again. Its parent is that flow, and its request is the one sent.
    public static let attempt = FlowFlags(rawValue: 1 << 15)
    /// An interceptor broke the response or its end; delayed or throttled it.
    public static let faulted = FlowFlags(rawValue: 1 << 18)
    public static let slowed = FlowFlags(rawValue: 1 << 19)
    /// AM completed a step-up without approving the transaction.
    public static let notApproved = FlowFlags(rawValue: 1 << 20)
    /// A step-up or a login by Usher took place.
    public static let steppedUp = FlowFlags(rawValue: 1 << 12)
    /// A part is dropped because its secrets cannot all be found, or the search took too many steps.
    public static let unread = FlowFlags(rawValue: 1 << 21)
}
