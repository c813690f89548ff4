public import Declaration
internal import Formats
public import HTTPCodec

/// `replace_body`. Replacements run in order, each on the result of the one before.
public struct ReplaceBody: RequestEdit, ResponseEdit, BodyEdit {
    public static let name = "replace_body"
    public static let doc =
        "Replaces each occurrence of a text, or each match of \"~pattern\", in the body. $1 is the first group."
    public static let shape = Shape.map(.name, .text(.any))

    public enum Search: Sendable {
        case text(String)
        case pattern(Pattern)
    }

    public let replacements: [(search: Search, text: String)]

    public init(_ replacements: [(search: Search, text: String)]) { self.replacements = replacements }

    public init(_ value: Decoded, _ reader: RuleReader) {
        self.init(
            reader.pairs(value) { _ in .text }.enumerated().compactMap { index, pair in
                guard pair.name.hasPrefix("~") else { return (.text(pair.name), pair.value) }
                let position = value.fields?.position(of: pair.name) ?? value.position
                return reader.pattern(pair.name, position, pair.name, Self.name).map { (.pattern($0), pair.value) }
            })
    }

    public var patterns: [Pattern] {
        replacements.compactMap { if case .pattern(let pattern) = $0.search { pattern } else { nil } }
    }

    public func concerns(_ type: MediaType?) -> Bool { type.map { !$0.isMedia } ?? true }

    public func apply(to body: inout EditedBody) throws(BodyFault) -> [String] {
        var text = try body.text()
        var notes: [String] = []
        for (search, replacement) in replacements {
            if let new = try Self.replaced(text, search, replacement, bound: body.limit) {
                text = new
                notes.append("replaced text in the body")
            } else {
                notes.append("found nothing to replace in the body")
            }
        }
        try body.replace(with: Array(text.utf8))
        return notes
    }

    /// - Returns: nil if nothing was found.
    private static func replaced(
        _ text: String, _ search: Search, _ replacement: String, bound: Int
    ) throws(BodyFault) -> String? {
        switch search {
        case .text(let wanted): return try replaced(text, Array(wanted.utf8), Array(replacement.utf8), bound)
        case .pattern(let pattern):
            do throws(PatternOverflow) {
                return try pattern.replacing(in: text, with: replacement, bound: bound)
            } catch {
                throw .unusable("would be larger than \(bound) bytes")
            }
        }
    }

    private static func replaced(
        _ text: String, _ wanted: [UInt8], _ replacement: [UInt8], _ bound: Int
    ) throws(BodyFault) -> String? {
        let search = ByteSearch(wanted)
        let bytes = Array(text.utf8)
        var out: [UInt8] = []
        var copied = 0
        while let found = search.next(in: bytes.span, from: copied) {
            out += bytes[copied..<found]
            out += replacement
            copied = found + wanted.count
            guard out.count <= bound else { throw .unusable("would be larger than \(bound) bytes") }
        }
        return copied > 0 ? String(decoding: out + bytes[copied...], as: UTF8.self) : nil
    }
}
