public import Formats

/// How a route answers.
public enum ControlReply {
    case now(ControlAnswer)
    /// Somebody else will answer, from whatever thread. What is given is called at once, on the loop, and must not wait.
    /// Where no answer comes in time, `late` is answered, and 503 where the promise is let go of without one.
    case later(
        within: Int = ControlLimits.work,
        late: ControlProblem = ControlProblem(503, "that took too long; what was asked for may still come about"),
        (ControlPromise) -> Void)
    /// The same where it is what is to come that is waited for: so many at a door do at a time.
    case waiting(within: Int, late: ControlProblem, (ControlPromise) -> Void)
    /// The answer stays open, and takes events (`text/event-stream`) until the client leaves or `end` is called. What is
    /// given is called at once, on the loop; what it returns is called there when the client is gone.
    case following((any ControlFollower) -> () -> Void)

    public static func json(_ body: JSONValue, status: Int = 200) -> ControlReply {
        .now(ControlAnswer(body, status: status))
    }
}

/// An answer that is owed. The first that comes counts.
public final class ControlPromise: Sendable {
    private let deliver: @Sendable (ControlAnswer) -> Void
    private let wanted: @Sendable () -> Bool

    /// - Parameter isWanted: whether somebody waits for it still.
    public init(
        isWanted: @escaping @Sendable () -> Bool = { true }, _ deliver: @escaping @Sendable (ControlAnswer) -> Void
    ) {
        self.deliver = deliver
        wanted = isWanted
    }

    /// From any thread. An answer that nobody waits for any more need not be made.
    public var isWanted: Bool { wanted() }

    /// From any thread.
    public func keep(_ answer: ControlAnswer) { deliver(answer) }
    public func refuse(_ problem: ControlProblem) { deliver(problem.answer) }

    deinit { deliver(ControlProblem(503, "nobody was there to answer").answer) }
}

/// A client that events are sent to.
public protocol ControlFollower: AnyObject, Sendable {
    /// From any thread; never waits. What a client does not read in time is dropped and counted, and it is told how many
    /// events it lost (`event: lost`).
    /// - Returns: false where nobody follows any more.
    @discardableResult
    func send(_ event: ServerEvent) -> Bool
    /// No event follows those that were sent.
    func end()
}
