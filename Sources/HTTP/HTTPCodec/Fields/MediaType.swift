import Formats

/// The value of a Content-Type field (RFC 9110 §8.3.1).
public struct MediaType: Equatable, Sendable {
    /// `text` of text/html, in small letters.
    public let type: String
    /// `html` of text/html, in small letters.
    public let subtype: String
    private let boundaryText: String?

    /// - Returns: nil if the text is no media type.
    public init?(_ text: some StringProtocol) {
        let bytes = String(text).utf8
        let end = bytes.firstIndex(of: 0x3B) ?? bytes.endIndex
        let names = bytes[..<end].split(separator: 0x2F, omittingEmptySubsequences: false).map { Self.trimmed($0) }
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty && $0.allSatisfy(ASCII.isToken) }),
            let parameters = FieldParameters(bytes[end...])
        else { return nil }
        type = ASCII.lowercased(String(Substring(names[0])))
        subtype = ASCII.lowercased(String(Substring(names[1])))
        boundaryText = parameters["boundary"]
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        func isSpace(_ byte: UInt8) -> Bool { byte == ASCII.space || byte == ASCII.tab }
        var rest = text.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }

    /// Pairs of names and values, percent-encoded.
    public var isForm: Bool { type == "application" && subtype == "x-www-form-urlencoded" }

    public var isJSON: Bool { type == "application" && subtype == "json" || subtype.hasSuffix("+json") }

    /// Whether the content is an image, sound, video or font, and no text.
    public var isMedia: Bool { ["image", "audio", "video", "font"].contains(type) }

    /// Events that follow one another, for as long as somebody listens.
    public var isEventStream: Bool { type == "text" && subtype == "event-stream" }

    /// The boundary of a multipart body (RFC 2046 §5.1.1).
    public var boundary: String? { type == "multipart" ? boundaryText : nil }

    /// A form of parts (RFC 7578).
    public var isMultipartForm: Bool { type == "multipart" && subtype == "form-data" }
}
