internal import Formats

/// The documents of one space with their limits, and their file format.
public struct StateDocuments: Equatable, Sendable {
    public static let longestName = 512
    /// The limit of one document in bytes.
    public static let largest = 64 << 10
    public static let mostDocuments = 10_000
    /// The limit of all documents and names in bytes.
    public static let mostBytes = 4 << 20

    public private(set) var values: [String: [UInt8]] = [:]
    private var bytes = 0

    public init() {}

    /// The reason why a text is invalid. It follows the file's name.
    public struct Fault: Error, Equatable, Sendable {
        public let words: String
    }

    public init(reading text: [UInt8]) throws(Fault) {
        let document: JSONValue
        do { document = try JSONValue(parsing: text) } catch { throw Fault(words: "is not JSON") }
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

    /// Returns false and changes nothing if a limit is exceeded.
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

    /// Sets a document, or removes it for nil.
    public mutating func put(_ name: String, _ value: [UInt8]?) -> Bool {
        if let value { return set(name, value) }
        remove(name)
        return true
    }

    /// Merges a change into a document that others may have changed.
    /// - Returns: false if a limit is exceeded.
    public mutating func put(_ name: String, _ change: DocumentChange, of space: StateSpace) -> Bool {
        put(name, change.merged(into: values[name], of: space))
    }

    /// The file's text, with the documents sorted by name.
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
