import Formats

/// A query or form as text: `name=value` pairs joined by `&`. Reading decodes; editing touches the bytes of the pair it
/// concerns and no others.
public struct QueryText: Equatable, Sendable {
    /// The pairs as they stand, in order.
    public private(set) var pairs: [Substring]

    public init(_ text: some StringProtocol) {
        // by bytes: as characters, a separator with a combining mark behind it would be no separator
        let bytes = String(text).utf8
        pairs =
            bytes.isEmpty ? [] : bytes.split(separator: 0x26, omittingEmptySubsequences: false).map { Substring($0) }
    }

    public var text: String { pairs.joined(separator: "&") }
    public var isEmpty: Bool { pairs.isEmpty }

    /// The decoded name of a pair.
    public static func name(_ pair: Substring) -> String {
        PercentCoding.decode(Substring(pair.utf8.prefix { $0 != 0x3D }), plusAsSpace: true)
    }

    /// The decoded value of a pair; empty where it has no `=`.
    public static func value(_ pair: Substring) -> String {
        guard let equals = pair.utf8.firstIndex(of: 0x3D) else { return "" }
        return PercentCoding.decode(pair[pair.utf8.index(after: equals)...], plusAsSpace: true)
    }

    /// The decoded value of the first pair of that name.
    public subscript(_ name: some StringProtocol) -> String? {
        pairs.first { Self.name($0) == name }.map(Self.value)
    }

    public func values(named name: some StringProtocol) -> [String] {
        pairs.filter { Self.name($0) == name }.map(Self.value)
    }

    /// Appends a pair, percent-encoded.
    public mutating func add(_ name: some StringProtocol, _ value: some StringProtocol) {
        pairs.append(Substring("\(PercentCoding.encode(name))=\(PercentCoding.encode(value))"))
    }

    /// Puts the value where the first pair of that name stands, drops the others of that name; appends where none is.
    public mutating func set(_ name: some StringProtocol, _ value: some StringProtocol) {
        guard let index = pairs.firstIndex(where: { Self.name($0) == name }) else { return add(name, value) }
        pairs[index] = Substring("\(PercentCoding.encode(name))=\(PercentCoding.encode(value))")
        pairs = pairs[...index] + pairs[(index + 1)...].filter { Self.name($0) != name }
    }

    public mutating func removeAll(where matches: (String) -> Bool) {
        pairs.removeAll { matches(Self.name($0)) }
    }
}
