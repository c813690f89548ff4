internal import Formats

/// The documents of one space within their bounds, and the text that they are kept as.
public struct StateDocuments: Equatable, Sendable {
    public static let longestName = 512
    /// Bytes of one document.
    public static let largest = 64 << 10
    public static let mostDocuments = 10_000
    /// Bytes of all documents and their names.
    public static let mostBytes = 4 << 20

    public private(set) var values: [String: [UInt8]] = [:]
    private var bytes = 0

    public init() {}

    /// Why a text holds no documents, in words that go on behind its name.
    public struct Fault: Error, Equatable, Sendable {
        public let words: String
    }

    public init(reading text: [UInt8]) throws(Fault) {
        let document: JSONValue
        do { document = try JSONValue(parsing: text) } catch { throw Fault(words: "is no JSON") }
        guard document["version"]?.integer == Self.version, let members = document["documents"]?.members else {
            throw Fault(words: "is none of this version of usher")
        }
        for member in members {
            guard let value = member.value.text.flatMap({ Base64.decode($0) }), set(member.name, value) else {
                throw Fault(words: "holds what usher does not write")
            }
        }
    }

    private static let version = 1

    /// False where it is out of bounds; nothing is changed then.
    public mutating func set(_ name: String, _ value: [UInt8]) -> Bool {
        let old = values[name]
        let grown = bytes + value.count - (old?.count ?? -name.utf8.count)
        guard !name.isEmpty, name.utf8.count <= Self.longestName, value.count <= Self.largest,
            grown <= Self.mostBytes, old != nil || values.count < Self.mostDocuments
        else { return false }
        values[name] = value
        bytes = grown
        return true
    }

    public mutating func remove(_ name: String) {
        guard let old = values.removeValue(forKey: name) else { return }
        bytes -= old.count + name.utf8.count
    }

    /// The same with nil for what is removed.
    public mutating func put(_ name: String, _ value: [UInt8]?) -> Bool {
        if let value { return set(name, value) }
        remove(name)
        return true
    }

    /// Makes one change to what others may have changed meanwhile.
    /// - Returns: false where it is out of bounds.
    public mutating func put(_ name: String, _ change: DocumentChange, of space: StateSpace) -> Bool {
        put(name, change.merged(into: values[name], of: space))
    }

    /// The text of a file, the documents in the order of their names.
    public var text: [UInt8] {
        let sorted = values.sorted { $0.key < $1.key }
        let members = sorted.map { JSONValue.Member($0.key, .string(Base64.encode($0.value))) }
        var out: [UInt8] = []
        JSONValue.object([.init("version", .integer(Self.version)), .init("documents", .object(members))]).write(
            to: &out)
        out.append(0x0A)
        return out
    }
}
