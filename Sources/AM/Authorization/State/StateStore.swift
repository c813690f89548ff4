/// Small documents by name that outlive the process. They are in memory, so loops may read them at any time; the implementation
/// writes them to the disk in the background.
public protocol StateStore: AnyObject {
    /// Nil if there is no document with this key.
    func value(of key: StateKey) -> [UInt8]?
    /// All documents of a space by name.
    func documents(in space: StateSpace) -> [String: [UInt8]]
    /// Reads and changes a document atomically. A nil result removes it.
    /// - Returns: false if it cannot be stored for its size or for lack of room; it is then unchanged.
    @discardableResult
    func change(_ key: StateKey, _ body: (inout [UInt8]?) -> Void) -> Bool
    /// Whether no other process has written into the space since it was read. If one has, a new read starts.
    func isCurrent(_ space: StateSpace) -> Bool
}

extension StateStore {
    public func isCurrent(_ space: StateSpace) -> Bool { true }

    /// - Returns: false if it cannot be stored for its size or for lack of room; the old value stays.
    @discardableResult
    public func set(_ key: StateKey, _ bytes: [UInt8]) -> Bool { change(key) { $0 = bytes } }

    public func remove(_ key: StateKey) { change(key) { $0 = nil } }
}

/// The kinds of documents. Each space is a file, `kept/NAME.json` in the state directory.
public enum StateSpace: String, CaseIterable, Sendable {
    /// Registered second factors.
    case devices
    /// Counters of one-time passwords.
    case counters
    /// Encrypted tokens.
    case tokens
}

public struct StateKey: Hashable, Sendable {
    public var space: StateSpace
    /// Any text of up to 512 bytes.
    public var name: String

    public init(_ space: StateSpace, _ name: String) {
        self.space = space
        self.name = name
    }
}
