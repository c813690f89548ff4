import Formats

/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.3, §11.6.1).
public struct Challenge: Equatable {
    public var scheme: String
    /// The parameters in order: names in lower case, values without quotes and escapes.
    public var parameters: [(name: String, value: String)] = []
    /// The token68 that replaces parameters, as in `Basic dXNlcg==`.
    public var token68: String?

    public init(scheme: String) { self.scheme = scheme }

    /// The value of the first parameter with this name, given in lower case.
    public subscript(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    public static func == (left: Challenge, right: Challenge) -> Bool {
        left.scheme == right.scheme && left.token68 == right.token68
            && left.parameters.elementsEqual(right.parameters) { $0 == $1 }
    }

    /// The challenges of one field line. Reading stops at a malformed part and drops the challenge that contains it.
    public static func list(_ line: String) -> [Challenge] {
        var reader = ChallengeReader(Array(line.utf8))
        return reader.list()
    }

    /// The challenge as AM writes it: no white space after commas, values quoted.
    public var text: String {
        if let token68 { return "\(scheme) \(token68)" }
        guard !parameters.isEmpty else { return scheme }
        return "\(scheme) " + parameters.map { "\($0.name)=\(Self.quoted($0.value))" }.joined(separator: ",")
    }

    /// A quoted string (RFC 9110 §5.6.4).
    public static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}

private struct ChallengeReader {
    private let bytes: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func list() -> [Challenge] {
        var done: [Challenge] = []
        var current: Challenge?
        while true {
            // empty list elements are allowed anywhere, a trailing comma too
            skip { $0 == 0x2C || Self.isSpace($0) }
            guard at < bytes.count else { break }
            let word = token()
            guard !word.isEmpty else { return done }
            let afterWord = at
            skip(Self.isSpace)
            if current != nil, peek == 0x3D {
                at += 1
                guard let value = value() else { return done }
                current?.parameters.append((ASCII.lowercased(word), value))
                continue
            }
            if let current { done.append(current) }
            var next = Challenge(scheme: word)
            if at > afterWord { next.token68 = token68() }
            current = next
        }
        if let current { done.append(current) }
        return done
    }

    private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func skip(_ matches: (UInt8) -> Bool) {
        while let byte = peek, matches(byte) { at += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == ASCII.space || byte == ASCII.tab }

    private mutating func token() -> String {
        let start = at
        skip(ASCII.isToken)
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    /// Reads a token68 that ends at a comma or the end of the line; otherwise reads nothing.
    private mutating func token68() -> String? {
        let start = at
        skip { ASCII.isUnreserved($0) || $0 == 0x2B || $0 == 0x2F }
        skip { $0 == 0x3D }
        let end = at
        skip(Self.isSpace)
        guard end > start, peek == nil || peek == 0x2C else {
            at = start
            return nil
        }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Reads the value after the equals sign; nil if a quoted string does not end. An unquoted value may hold `/`, `:` and `=`,
    /// which servers do send; it ends at a comma or white space.
    private mutating func value() -> String? {
        skip(Self.isSpace)
        guard peek == 0x22 else {
            let start = at
            skip { $0 != 0x2C && $0 != 0x22 && !Self.isSpace($0) }
            return String(decoding: bytes[start..<at], as: UTF8.self)
        }
        at += 1
        var out: [UInt8] = []
        while let byte = peek {
            at += 1
            switch byte {
            case 0x22: return String(decoding: out, as: UTF8.self)
            case 0x5C:
                guard let escaped = peek else { return nil }
                at += 1
                out.append(escaped)
            default: out.append(byte)
            }
        }
        return nil
    }
}

extension FieldTable {
    /// Whether `WWW-Authenticate` contains a challenge of this scheme (RFC 9110 §11.6.1).
    public func challenges(scheme: String) -> Bool {
        values(named: "WWW-Authenticate").contains { line in
            Challenge.list(line).contains { ASCII.equal($0.scheme, scheme) }
        }
    }
}
