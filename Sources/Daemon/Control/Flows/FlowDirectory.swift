public import Formats
public import Journal

/// The stored flows for the admin API. They belong to another thread, which also makes the responses.
public protocol FlowDirectory: SendableMetatype {
    /// False if the configuration disables the journal.
    var keepsFlows: Bool { get }
    /// Runs a query on the journal's thread. Returns at once.
    /// - Returns: false if too many queries wait.
    func ask(_ query: @escaping @Sendable (FlowRing) -> Void) -> Bool
    /// Runs a query once enough flows match a filter. Drops it if the time passes or it is no longer wanted.
    /// - Parameters:
    /// - after: only flows after this sequence.
    /// - time: by `clock`.
    /// - Returns: false if too many queries wait.
    func wait(
        for count: Int, of filter: FlowFilter, after: Int, until time: Int,
        isWanted: @escaping @Sendable () -> Bool, _ query: @escaping @Sendable (FlowRing) -> Void
    ) -> Bool
    /// The flows on the disk; nil if none are stored there.
    var disk: (any FlowDisk)? { get }
    /// The source of stored secrets; nil if none are stored.
    var secrets: SecretSource? { get }
    /// Sends new flows to a follower, after some stored ones.
    /// - Parameters:
    /// - after: stored flows after this sequence; nil for none.
    /// - event: makes the event of a flow.
    /// - Returns: a closure that ends it.
    func follow(
        _ filter: FlowFilter, after: Int?, _ follower: any ControlFollower,
        event: @escaping @Sendable (PackedFlow) -> ServerEvent
    ) -> () -> Void
    /// Sends the request of a flow again.
    /// - Parameters:
    /// - secrets: the secrets to fill in; nil if there are none or the client may not use them.
    func replay(_ id: String, _ wish: ReplayWish, _ secrets: SecretSource?, _ promise: ControlPromise)
    /// Writes a flow in another form.
    /// - flow: the complete flow as JSON.
    static func copy(_ flow: JSONValue, as form: FlowCopy) throws(ControlProblem) -> [UInt8]
    /// Records that secrets were shown, on any thread.
    static func note(_ words: String)
    /// Milliseconds since 1970.
    var time: Int { get }
    /// Monotonic milliseconds, callable on any thread.
    static func clock() -> Int
    var version: String { get }
}
