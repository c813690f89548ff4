public import Journal

/// The flows that are kept, as the interface knows them. They are on another thread, and so are their answers made.
public protocol FlowDirectory: SendableMetatype {
    /// False where the configuration wants none kept.
    var keepsFlows: Bool { get }
    /// Has that done where they are; returns at once.
    /// - Returns: false where too many ask.
    func ask(_ query: @escaping @Sendable (FlowRing) -> Void) -> Bool
    /// The same as soon as so many flows are there that a filter accepts. Where they are not by then, or it is wanted no more, it
    /// is let go of.
    /// - Parameters:
    ///   - after: those alone that came after that one.
    ///   - time: by `clock`.
    /// - Returns: false where too many ask.
    func wait(
        for count: Int, of filter: FlowFilter, after: Int, until time: Int,
        isWanted: @escaping @Sendable () -> Bool, _ query: @escaping @Sendable (FlowRing) -> Void
    ) -> Bool
    /// Those on the disk; nil where none are kept there.
    var disk: (any FlowDisk)? { get }
    /// Who gives secrets back; nil where none are kept.
    var secrets: (any SecretKeeper)? { get }
    /// Tells a follower of the flows that come, and before those, of some that are there.
    /// - Parameters:
    ///   - after: those alone that came after that one; nil for none of them.
    ///   - event: what is sent of a flow.
    /// - Returns: what ends it.
    func follow(
        _ filter: FlowFilter, after: Int?, _ follower: any ControlFollower,
        event: @escaping @Sendable (PackedFlow) -> ServerEvent
    ) -> () -> Void
    /// Has the request of a flow sent again.
    /// - Parameters:
    ///   - isForced: also where it holds what is good for one use alone.
    ///   - secrets: fills them in; nil where they are not held, or not for whoever asks.
    func replay(_ id: String, isForced: Bool, _ secrets: (any SecretKeeper)?, _ promise: ControlPromise)
    /// Milliseconds since 1970.
    var time: Int { get }
    /// Monotonic milliseconds, from any thread.
    static func clock() -> Int
    var version: String { get }
}
