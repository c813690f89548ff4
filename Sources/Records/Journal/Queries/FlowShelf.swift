/// The flows on the disk. Used by one thread; methods throw if the disk fails.
public protocol FlowShelf {
    /// Visits the newest first while `body` returns true.
    /// - Parameter sequence: only flows before this one.
    func newestFirst(before sequence: Int, _ body: (PackedFlow) -> Bool) throws
    /// Visits the oldest first.
    /// - Parameter sequence: only flows after this one.
    func oldestFirst(after sequence: Int, _ body: (PackedFlow) -> Bool) throws
    /// Finds a flow by its id, or by the start or end of the id.
    func find(_ text: String) throws -> FlowRing.Finding
    /// The encrypted secret of an alias; nil if it is not stored.
    func sealed(_ alias: SecretAlias) throws -> [UInt8]?
    /// The calls made for a flow, oldest first. Very long lists are truncated.
    func calls(of id: Int) throws -> [PackedFlow]
}

/// The store of flows on the disk, usable from any thread.
public protocol FlowDisk: Sendable {
    /// True once the stored flows can be read.
    var isOpen: Bool { get }
    /// Runs a query on the disk's thread after earlier ones, with nil if the disk is not open. Returns at once.
    /// - Returns: false if too many queries wait.
    func ask(_ query: @escaping @Sendable ((any FlowShelf)?) -> Void) -> Bool
}
