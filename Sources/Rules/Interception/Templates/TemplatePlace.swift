internal import Formats
internal import HTTPCodec

/// The place that a template's text goes to. It decides how inserted values are escaped, so that they cannot end the line or the
/// part they are in.
enum TemplatePlace: Hashable, Sendable {
    case header
    /// A host with or without a port.
    case host
    case cookie
    /// A path or a URL.
    case url
    /// Encoded as a whole by the writer.
    case query, form
    /// Within a string of JSON.
    case json
    /// As it is.
    case text, state

    /// The place for the value of a header field.
    init(header name: String) {
        switch FieldName(name) {
        case .host: self = .host
        case .cookie, .setCookie: self = .cookie
        default: self = .header
        }
    }

    /// The largest size of a value in a head, in bytes.
    static let longestInHead = 16 << 10

    var isInHead: Bool {
        switch self {
        case .header, .host, .cookie, .url, .query: true
        case .form, .json, .text, .state: false
        }
    }

    /// Escapes a value for this place; nil if it is not allowed there.
    /// - Parameters:
    ///   - isQuoted: the variable is inside quotation marks.
    ///   - isAlone: the variable is the whole value.
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

    /// Whether the completed text is allowed in this place.
    func accepts(_ text: String) -> Bool {
        switch self {
        case .host: (try? HeaderEdit.checkHost(text)) != nil
        // an inserted value may lead a path back up
        case .url:
            !text.utf8.split(separator: 0x2F).contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
        default: true
        }
    }

    /// Replaces characters that would end the line by spaces (RFC 9110 §5.5) and, between quotation marks, escapes quotes and
    /// backslashes (§5.6.4). Commas and semicolons stay, because their meaning depends on the field.
    private static func field(_ value: String, isQuoted: Bool) -> String {
        var out: [UInt8] = []
        for byte in value.utf8 {
            if isQuoted, byte == 0x22 || byte == 0x5C { out.append(0x5C) }
            out.append(ASCII.isFieldValue(byte) ? byte : ASCII.space)
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Percent-encodes characters that a cookie value may not contain (RFC 6265 §4.1.1). All others stay, so that a value of
    /// another cookie is unchanged.
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
