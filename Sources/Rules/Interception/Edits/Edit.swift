public import Declaration
public import HTTPCodec

/// One kind of change, declared in one place: its name, the shape of its value, the part of the message it needs, and its effect.
/// The configuration keys, their schema, the loader and `usher check --print-edits` are derived from this protocol.
/// `EditCatalogue` lists all edits.
public protocol Edit: Sendable {
    /// The configuration key.
    static var name: String { get }
    /// One sentence for editors and for `usher check --print-edits`.
    static var doc: String { get }
    /// The shape of the value.
    static var shape: Shape { get }
    static var needs: EditNeed { get }
    /// True if the edit responds or aborts, so that no later edit runs.
    static var isLast: Bool { get }
    /// True if the edit may respond in place of the origin or redirect the request, so the origin named by the client need not
    /// exist.
    static var mayStandIn: Bool { get }
    /// True if the edit delays, breaks or responds to exchanges. An interceptor with such an edit skips calls that Usher makes
    /// itself, unless its condition has the key `by`.
    static var sparesCalls: Bool { get }
    /// What an environment has to allow for the edit to apply.
    static var powers: Powers { get }
    /// Like `isLast`, for this instance: its value may decide.
    var endsPhase: Bool { get }

    /// - Parameter value: a value of the edit's shape.
    /// - Returns: nil if the value cannot be used. The reader has recorded the finding.
    init?(_ value: Decoded, _ reader: RuleReader)

    /// Log words for an edit that was applied in full, a few words each: names only, never values.
    var words: [String] { get }
    /// The regular expressions in the value.
    var patterns: [Pattern] { get }
    /// The values that each exchange fills in. An edit with templates is never applied itself; the result of `filled` is.
    var templates: [Template] { get }

    /// The same edit, which counts exchanges from the beginning.
    var restarted: Self { get }

    /// Returns the edit with its templates filled in for this exchange.
    /// - Returns: nil if nothing is left to do.
    func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self?
}

extension Edit {
    public static var needs: EditNeed { .head }
    public static var isLast: Bool { false }
    public static var mayStandIn: Bool { isLast }
    public static var sparesCalls: Bool { false }
    public static var powers: Powers { .edit }
    public var endsPhase: Bool { Self.isLast }
    public var words: [String] { [] }
    public var patterns: [Pattern] { [] }
    public var templates: [Template] { [] }
    public var restarted: Self { self }
    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? { self }
}

/// The part of a message that an edit reads. An edit that needs the response is not a `RequestEdit`.
public enum EditNeed: String, Sendable {
    case nothing, head, body
}

/// A change to a request.
public protocol RequestEdit: Edit {
    func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect
}

/// A change to a response.
public protocol ResponseEdit: Edit {
    func apply(to head: inout ResponseHead) throws(EditFault) -> EditEffect
}

/// A change for a request that gets no response: the connection failed, or ended too soon.
public protocol ErrorEdit: Edit {
    func apply() throws(EditFault) -> EditEffect
}

/// The result of an edit.
public enum EditEffect {
    /// The edit was applied in full; its `words` describe it.
    case done
    /// The message changed. A few words each: names only, never values.
    case changed([String])
    /// The message is unchanged, for a reason that the interceptor's author should know. Same words.
    case warned(String)
    /// Delay the message.
    case delay(Distribution)
    /// Limit the body to this many bytes a second.
    case throttle(Int)
    /// Send the request again.
    case retry(RetryPolicy)
    /// Keep the present result and withdraw earlier retries of the same phase.
    case noRetry
    /// Skip the remaining interceptors of this phase.
    case stop
    /// Fail the request if no response head has arrived after this many milliseconds.
    case timeout(Int)
    /// Write a line to the log.
    case log([LoggedPart])
    /// Store these values until the exchange ends.
    case kept([StateChange])
    /// Wait for an interceptor that runs off the event loop.
    case suspend(SwiftCall)
    /// Respond in place of the origin.
    case respond(DirectResponse)
    /// Send one of these responses; the counter selects it.
    case respondInSequence(ResponseSequence, [DirectResponse])
    case abort(String)
    /// Count the request, and let it pass when the limit allows.
    case limit(LimitPolicy)
    /// Break the client's connection instead of sending a response.
    case breaks(Breakage)
    /// Change how the response ends.
    case ends(AnswerEnding)
    /// Fail as if the origin could not be reached.
    case loses(OriginFault)
    /// Send the body in chunks of this size, if it is whole.
    case chunks(Int)
}

/// The reason why an edit cannot be applied: its result would be invalid HTTP.
public struct EditFault: Error {
    public let reason: String

    public init(reason: String) { self.reason = reason }
}
