import Formats

/// The parameters behind a field's value: `; name=value; name="quoted value"` (RFC 9110 §5.6.6).
struct FieldParameters: Equatable {
    /// Any more are a fault.
    static let most = 32

    /// Names in small letters.
    private(set) var all: [(name: String, value: String)] = []

    /// - Parameter bytes: from the first semicolon on.
    /// - Returns: nil where something else stands there, or a name twice.
    init?(_ bytes: Substring.UTF8View) {
        var rest = bytes
        func skipSpace() { rest = rest.drop { $0 == ASCII.space || $0 == ASCII.tab } }
        while true {
            skipSpace()
            guard let next = rest.popFirst() else { return }
            guard next == 0x3B else { return nil }
            skipSpace()
            let name = rest.prefix(while: ASCII.isToken)
            rest = rest.dropFirst(name.count)
            // a semicolon with nothing behind it
            if name.isEmpty, rest.isEmpty || rest.first == 0x3B { continue }
            guard !name.isEmpty, rest.popFirst() == 0x3D, let value = Self.value(&rest) else { return nil }
            let known = ASCII.lowercased(String(Substring(name)))
            guard all.count < Self.most, self[known] == nil else { return nil }
            all.append((known, value))
        }
    }

    /// A token or a quoted string.
    private static func value(_ rest: inout Substring.UTF8View) -> String? {
        var value: [UInt8] = []
        guard rest.first == 0x22 else {
            value = Array(rest.prefix { $0 != 0x3B && $0 != ASCII.space && $0 != ASCII.tab && $0 != 0x22 })
            rest = rest.dropFirst(value.count)
            return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
        }
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case 0x22: return String(decoding: value, as: UTF8.self)
            case 0x5C:
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            default: value.append(byte)
            }
        }
        return nil
    }

    subscript(_ name: String) -> String? { all.first { $0.name == name }?.value }

    static func == (left: FieldParameters, right: FieldParameters) -> Bool {
        left.all.elementsEqual(right.all) { $0 == $1 }
    }
}
