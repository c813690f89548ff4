public import Declaration
public import HTTPCodec

/// One kind of change, declared in one place: what it is called, how its value is written, what of a message it needs and
/// what it does. The keys of the configuration, their schema, the loader and `usher check --print-edits` are made of
/// this; `EditCatalogue` lists all of them.
public protocol Edit: Sendable {
    /// The key of the configuration.
    static var name: String { get }
    /// One sentence, for editors and whoever asks what there is.
    static var doc: String { get }
    /// How the value is written.
    static var shape: Shape { get }
    static var needs: EditNeed { get }
    /// True where it answers or gives up, so that no edit behind it is made.
    static var isLast: Bool { get }
    /// True where it may answer in the origin's place, or lead to another: the one that the client named may not be there.
    static var mayStandIn: Bool { get }
    /// True where it holds exchanges up, answers them or breaks them. An interceptor with such an edit leaves calls of Usher's
    /// own alone, unless its condition says whose requests it means (`by`).
    static var sparesCalls: Bool { get }
    /// The same of this very one, where that hangs on its value.
    var endsPhase: Bool { get }

    /// - Parameter value: of the edit's shape.
    /// - Returns: nil where the value cannot be used; the reader has been told why.
    init?(_ value: Decoded, _ reader: RuleReader)

    /// What it says where it did all that it is asked for, in a few words each; names only, never values.
    var words: [String] { get }
    /// The regular expressions in it.
    var patterns: [Pattern] { get }
    /// Those of its values that are made for each exchange. One that has some is never made as it is, but as `filled` has it.
    var templates: [Template] { get }

    /// The edit with its values as this exchange has them.
    /// - Returns: nil where nothing is left to be done.
    func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self?
}

extension Edit {
    public static var needs: EditNeed { .head }
    public static var isLast: Bool { false }
    public static var mayStandIn: Bool { isLast }
    public static var sparesCalls: Bool { false }
    public var endsPhase: Bool { Self.isLast }
    public var words: [String] { [] }
    public var patterns: [Pattern] { [] }
    public var templates: [Template] { [] }
    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? { self }
}

/// How much of a message an edit looks at. One that needs the response is no `RequestEdit`.
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

/// What may be done where there is no answer to a request: no connection came about, or it ended too soon.
public protocol ErrorEdit: Edit {
    func apply() throws(EditFault) -> EditEffect
}

/// What an edit did.
public enum EditEffect {
    /// Did what it is asked for, which its `words` tell.
    case done
    /// In a few words each; names only, never values.
    case changed([String])
    /// Left everything as it is, for a reason that the interceptor's owner should know; in the same words.
    case warned(String)
    /// Let the message wait.
    case delay(Distribution)
    /// Let its body pass no faster than so many bytes a second.
    case throttle(Int)
    /// Send the request again.
    case retry(RetryPolicy)
    /// Let what is there stand, though another asked before to send the request again.
    case noRetry
    /// Ask no interceptor behind this one in this phase.
    case stop
    /// Give the request up where the head of its answer is not here after so many milliseconds.
    case timeout(Int)
    /// Write a line to the log.
    case log([LoggedPart])
    /// Keep these for as long as the exchange lasts.
    case kept([StateChange])
    /// Wait for an interceptor that works off the loop.
    case suspend(SwiftCall)
    /// Answer in the origin's place.
    case respond(DirectResponse)
    /// The same with the one of these whose turn it is.
    case respondInTurn(TurnCounter, [DirectResponse])
    case abort(String)
    /// Count the request, and let it pass when there is room.
    case limit(LimitPolicy)
    /// Break the client's connection.
    case breaks(Breakage)
    /// Let the answer end otherwise than it would.
    case ends(AnswerEnding)
}

/// Why an edit cannot be made: what it would write is no valid HTTP.
public struct EditFault: Error {
    public let reason: String

    public init(reason: String) { self.reason = reason }
}
