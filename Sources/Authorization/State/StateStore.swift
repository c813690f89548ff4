/// What has to outlive the process: small documents by name. They are in memory, so that every thread may ask at any time,
/// a loop too; whoever keeps them writes them to the disk behind everybody's back.
public protocol StateStore: AnyObject {
    /// Nil where there is none of that name.
    func value(of key: StateKey) -> [UInt8]?
    /// All documents of a space, by their names.
    func documents(in space: StateSpace) -> [String: [UInt8]]
    /// Looks at a document and changes it, with nobody between. What becomes nil is removed.
    /// - Returns: false where it cannot be kept, for its size or for want of room; it then stays as it was.
    @discardableResult
    func change(_ key: StateKey, _ body: (inout [UInt8]?) -> Void) -> Bool
    /// Whether nobody else has written into a space since it was read. Where somebody has, it is read anew.
    func isCurrent(_ space: StateSpace) -> Bool
}

extension StateStore {
    public func isCurrent(_ space: StateSpace) -> Bool { true }

    /// - Returns: false where it cannot be kept, for its size or for want of room; what was there then stays.
    @discardableResult
    public func set(_ key: StateKey, _ bytes: [UInt8]) -> Bool { change(key) { $0 = bytes } }

    public func remove(_ key: StateKey) { change(key) { $0 = nil } }
}

/// Whose documents they are. Each space is a file of its own, `kept/NAME.json` in the state directory.
public enum StateSpace: String, CaseIterable, Sendable {
    /// The second factors that were registered.
    case devices
    /// Counters of one-time passwords.
    case counters
    /// Tokens, sealed.
    case tokens
}

public struct StateKey: Hashable, Sendable {
    public var space: StateSpace
    /// Any text up to 512 bytes.
    public var name: String

    public init(_ space: StateSpace, _ name: String) {
        self.space = space
        self.name = name
    }
}
