internal import Formats
internal import HTTPCodec

/// Where a template's text goes, which decides how what comes from an exchange is written there: so that it ends neither the
/// line nor the part that it stands in.
enum TemplatePlace: Hashable, Sendable {
    case header
    /// A host with or without a port.
    case host
    case cookie
    /// A path or a URL.
    case url
    /// It is encoded whole, by whoever puts it there.
    case query, form
    /// Within a string of a JSON text.
    case json
    /// As it is.
    case text, state

    /// Of a field that an edit of headers writes.
    init(header name: String) {
        switch FieldName(name) {
        case .host: self = .host
        case .cookie, .setCookie: self = .cookie
        default: self = .header
        }
    }

    /// What goes into a head may have so many bytes.
    static let longestInHead = 16 << 10

    var isInHead: Bool {
        switch self {
        case .header, .host, .cookie, .url, .query: true
        case .form, .json, .text, .state: false
        }
    }

    /// A value as it is written there; nil for one that cannot stand there.
    /// - Parameters:
    ///   - isQuoted: the configuration has a quotation mark before it, and another behind it.
    ///   - isAlone: there is nothing beside it.
    func written(_ value: String, isQuoted: Bool, isAlone: Bool) -> String? {
        switch self {
        case .query, .form, .text, .state: value
        case .header: Self.field(value, isQuoted: isQuoted)
        case .host: Self.isHost(value, isAlone: isAlone) ? value : nil
        case .cookie: Self.cookie(value)
        case .url: PercentCoding.encode(value)
        case .json: Self.string(value)
        }
    }

    /// Whether all of it may stand there, now that every value is in its place.
    func accepts(_ text: String) -> Bool {
        switch self {
        case .host: (try? HeaderEdit.checkHost(text)) != nil
        // a value may be what leads a path back up
        case .url:
            !text.utf8.split(separator: 0x2F).contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
        default: true
        }
    }

    /// What ends a line, or a text, becomes a space (RFC 9110 §5.5); between quotation marks a backslash stands before what
    /// would end them (§5.6.4). Whether a comma or a semicolon means anything is for the field to say.
    private static func field(_ value: String, isQuoted: Bool) -> String {
        var out: [UInt8] = []
        for byte in value.utf8 {
            if isQuoted, byte == 0x22 || byte == 0x5C { out.append(0x5C) }
            out.append(ASCII.isFieldValue(byte) ? byte : ASCII.space)
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// What a cookie's value may not hold is percent-encoded (RFC 6265 §4.1.1); what it may hold stays, so that a value of
    /// another cookie is the same in this one.
    private static func cookie(_ value: String) -> String {
        var out: [UInt8] = []
        for byte in value.utf8 {
            switch byte {
            case 0...0x20, 0x22, 0x2C, 0x3B, 0x5C, 0x7F...:
                out.append(0x25)
                out.append(PercentCoding.hexDigit(byte >> 4))
                out.append(PercentCoding.hexDigit(byte & 15))
            default: out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static func string(_ value: String) -> String {
        var out: [UInt8] = []
        JSONValue.writeEscaped(value, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    private static func isHost(_ value: String, isAlone: Bool) -> Bool {
        value.utf8.allSatisfy {
            ASCII.isUnreserved($0) || isAlone && ($0 == ASCII.colon || $0 == 0x5B || $0 == 0x5D)
        }
    }
}
