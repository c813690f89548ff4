/// The flows on the disk, as far as they can be asked for. Belongs to one thread; what it is asked for throws where the disk does
/// not give it.
public protocol FlowShelf {
    /// The newest first, for as long as `body` returns true.
    /// - Parameter sequence: those alone that came before that one.
    func newestFirst(before sequence: Int, _ body: (PackedFlow) -> Bool) throws
    /// The oldest first.
    /// - Parameter sequence: those alone that came after that one.
    func oldestFirst(after sequence: Int, _ body: (PackedFlow) -> Bool) throws
    /// The flow of an id, or of its beginning or its end.
    func find(_ text: String) throws -> FlowRing.Finding
    /// A secret as it was sealed; nil where it is not there.
    func sealed(_ alias: SecretAlias) throws -> [UInt8]?
    /// The calls that were made for a flow, in their order; some of them where there are very many.
    func calls(of id: Int) throws -> [PackedFlow]
}

/// Whoever keeps flows on the disk, asked from any thread.
public protocol FlowDisk: Sendable {
    /// What is there can be read by now.
    var isOpen: Bool { get }
    /// Has that done on the disk's thread, behind what came before it; nil where the disk is not open. Returns at once.
    /// - Returns: false where too many ask.
    func ask(_ query: @escaping @Sendable ((any FlowShelf)?) -> Void) -> Bool
}
