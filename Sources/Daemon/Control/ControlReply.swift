public import Formats

/// The ways a route responds.
public enum ControlReply {
    case now(ControlAnswer)
    /// The response follows later, from any thread. The closure is called at once on the loop and must not block. `late` is sent
    /// if no response comes in time, and 503 if the promise is dropped.
    case later(
        within: Int = ControlLimits.work,
        late: ControlProblem = ControlProblem(503, "the request took too long; it may still take effect"),
        (ControlPromise) -> Void)
    /// The same for waiting on future events. The number of such waits at each listener is limited.
    case waiting(within: Int, late: ControlProblem, (ControlPromise) -> Void)
    /// The response stays open for events (`text/event-stream`) until the client leaves or `end` is called. The closure is called
    /// at once on the loop. The closure it returns is called there when the client has gone.
    case following((any ControlFollower) -> () -> Void)

    public static func json(_ body: JSONValue, status: Int = 200) -> ControlReply {
        .now(ControlAnswer(body, status: status))
    }
}

/// A pending response. Only the first one counts.
public final class ControlPromise: Sendable {
    private let deliver: @Sendable (ControlAnswer) -> Void
    private let wanted: @Sendable () -> Bool

    /// - Parameter isWanted: whether the client still waits.
    public init(
        isWanted: @escaping @Sendable () -> Bool = { true }, _ deliver: @escaping @Sendable (ControlAnswer) -> Void
    ) {
        self.deliver = deliver
        wanted = isWanted
    }

    /// False if the client has gone, so that no response is needed. Callable on any thread.
    public var isWanted: Bool { wanted() }

    /// Sends the response. Callable on any thread.
    public func keep(_ answer: ControlAnswer) { deliver(answer) }
    public func refuse(_ problem: ControlProblem) { deliver(problem.answer) }

    deinit { deliver(ControlProblem(503, "the request was dropped without a response").answer) }
}

/// A client that receives events.
public protocol ControlFollower: AnyObject, Sendable {
    /// Queues an event without blocking, on any thread. Events that a slow client does not read are dropped, and their count is
    /// sent (`event: lost`).
    /// - Returns: false if the client has gone.
    @discardableResult
    func send(_ event: ServerEvent) -> Bool
    /// Ends the stream after the queued events.
    func end()
}
