internal import Formats

/// The stored fields of a message: lines of `name: value`, each with CR and LF.
public struct FieldLines: Sendable {
    public let bytes: ArraySlice<UInt8>

    public init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// Visits the fields in order while `body` returns true.
    public func forEach(_ body: (_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool) {
        var rest = bytes
        while !rest.isEmpty {
            let end = rest.firstIndex(of: ASCII.lf) ?? rest.endIndex
            let line = rest[..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            guard let colon = line.firstIndex(of: ASCII.colon) else { continue }
            guard body(line[..<colon], Self.trimmed(line[(colon + 1)...])) else { return }
        }
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = value.drop { $0 == ASCII.space || $0 == ASCII.tab }
        while let last = rest.last, last == ASCII.cr || last == ASCII.space || last == ASCII.tab { rest.removeLast() }
        return rest
    }

    /// The value of the first field with this name.
    /// - Parameter name: in lower case.
    public func value(_ name: StaticString) -> ArraySlice<UInt8>? {
        var found: ArraySlice<UInt8>?
        forEach { field, value in
            guard Self.isNamed(field, name) else { return true }
            found = value
            return false
        }
        return found
    }

    private static func isNamed(_ field: ArraySlice<UInt8>, _ name: StaticString) -> Bool {
        guard field.count == name.utf8CodeUnitCount else { return false }
        var place = 0
        for byte in field {
            if ASCII.lower(byte) != name.utf8Start[place] { return false }
            place += 1
        }
        return true
    }

    public func text(_ name: StaticString) -> String? { value(name).map { String(decoding: $0, as: UTF8.self) } }

    /// The values of all fields with this name.
    /// - Parameter name: in lower case.
    func texts(_ name: StaticString) -> [String] {
        var texts: [String] = []
        forEach { field, value in
            if Self.isNamed(field, name) { texts.append(String(decoding: value, as: UTF8.self)) }
            return true
        }
        return texts
    }

    /// All fields as text.
    public var list: [(name: String, value: String)] {
        var list: [(name: String, value: String)] = []
        forEach { name, value in
            list.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
            return true
        }
        return list
    }
}
