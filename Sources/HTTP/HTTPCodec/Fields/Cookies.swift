import Formats

/// The cookies of a `Cookie` field value (RFC 6265 §5.4), bytes of the values untouched.
public struct CookieText: Equatable, Sendable {
    /// `name=value` pairs as they stand, without the white space between them.
    public private(set) var pairs: [Substring]

    public init(_ text: some StringProtocol) {
        // by bytes: as characters, a separator with a combining mark behind it would be no separator
        let bytes = String(text).utf8
        pairs = bytes.split(separator: 0x3B).map { Self.trimmed(Substring($0)) }.filter { !$0.isEmpty }
    }

    public var text: String { pairs.joined(separator: "; ") }
    public var isEmpty: Bool { pairs.isEmpty }
    public var names: [String] { pairs.map { String(Self.name($0)) } }

    private static func trimmed(_ text: Substring) -> Substring {
        var rest = text
        while let first = rest.utf8.first, first == 0x20 || first == 0x09 { rest = Substring(rest.utf8.dropFirst()) }
        while let last = rest.utf8.last, last == 0x20 || last == 0x09 { rest = Substring(rest.utf8.dropLast()) }
        return rest
    }

    private static func name(_ pair: Substring) -> Substring { Substring(pair.utf8.prefix { $0 != 0x3D }) }

    /// The value of the first cookie of that name. Cookie names are case-sensitive.
    public subscript(_ name: some StringProtocol) -> String? {
        guard let pair = pairs.first(where: { Self.name($0) == name }) else { return nil }
        return String(Substring(pair.utf8.drop { $0 != 0x3D }.dropFirst()))
    }

    /// The values of all cookies of that name.
    public func values(named name: some StringProtocol) -> [String] {
        pairs.filter { $0.utf8.prefix { $0 != 0x3D }.elementsEqual(name.utf8) }
            .map { String(Substring($0.utf8.drop { $0 != 0x3D }.dropFirst())) }
    }

    /// Puts the value where the first cookie of that name stands and drops others of the name; appends where none is.
    public mutating func set(_ name: some StringProtocol, _ value: some StringProtocol) {
        let pair = Substring("\(name)=\(value)")
        guard let index = pairs.firstIndex(where: { Self.name($0) == name }) else { return pairs.append(pair) }
        pairs[index] = pair
        pairs = pairs[...index] + pairs[(index + 1)...].filter { Self.name($0) != name }
    }

    public mutating func removeAll(where matches: (String) -> Bool) {
        pairs.removeAll { matches(String(Self.name($0))) }
    }
}

/// A `Set-Cookie` field value (RFC 6265 §5.2).
public struct SetCookie: Equatable, Sendable {
    public var name: String
    public var value: String
    /// Set when the line deletes the cookie: an empty value, `LOGOUT`, `Max-Age=0` or less.
    public var deletes: Bool
    /// The domain in lower case, without a leading dot; nil for the host that set the cookie.
    public var domain: String?
    /// Nil if the request's path decides.
    public var path: String?
    public var isSecure = false
    /// The Max-Age in seconds.
    public var maxAge: Int?
    /// A date as it stands.
    public var expires: String?

    /// Nil if the line has no name.
    public init?(_ line: some StringProtocol) {
        let parts = Array(line.utf8).split(separator: 0x3B, omittingEmptySubsequences: false)
        // white space around both is none of them (RFC 6265 §5.2)
        guard let first = parts.first, let (name, text) = Self.divided(first), let value = text, !name.isEmpty else {
            return nil
        }
        self.name = String(decoding: name, as: UTF8.self)
        self.value = String(decoding: value, as: UTF8.self)
        deletes = value.isEmpty || value.elementsEqual("LOGOUT".utf8)
        for attribute in parts.dropFirst() { read(attribute) }
    }

    /// Reads an attribute; the last one of a name counts.
    private mutating func read(_ attribute: ArraySlice<UInt8>) {
        guard let (name, given) = Self.divided(attribute) else { return }
        let value = given ?? []
        func isNamed(_ word: StaticString) -> Bool {
            name.count == word.utf8CodeUnitCount && name.span.holds(word, at: 0)
        }
        if isNamed("domain") {
            let name = value.first == 0x2E ? value.dropFirst() : value
            domain = name.isEmpty ? nil : String(decoding: name.map(ASCII.lower), as: UTF8.self)
        } else if isNamed("path") {
            path = value.first == 0x2F ? String(decoding: value, as: UTF8.self) : nil
        } else if isNamed("secure") {
            isSecure = true
        } else if isNamed("expires") {
            expires = String(decoding: value, as: UTF8.self)
        } else if isNamed("max-age") {
            let digits = value.first == 0x2D ? value.dropFirst() : value
            guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return }
            // more than can be counted is as long as anything
            let age = Int(String(decoding: value, as: UTF8.self)) ?? (digits.count == value.count ? Int.max : Int.min)
            maxAge = age
            if age <= 0 { deletes = true }
        }
    }

    /// The texts before and behind the first `=`, without white space around them; nil for an empty text.
    private static func divided(_ text: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?)? {
        let text = trimmed(text)
        guard !text.isEmpty else { return nil }
        guard let equals = text.firstIndex(of: 0x3D) else { return (text, nil) }
        return (trimmed(text[..<equals]), trimmed(text[(equals + 1)...]))
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == ASCII.space || byte == ASCII.tab }
        let rest = text.drop(while: isBlank)
        return rest.lastIndex { !isBlank($0) }.map { rest[...$0] } ?? []
    }
}
