internal import Formats
internal import HTTPCodec

/// The values of the configuration's references. They are removed from texts and URLs, even percent-encoded in part.
struct SecretTexts: Sendable {
    /// The fewest bytes of a value that is searched for; shorter ones are too common.
    static let shortest = 6
    static let replacement: StaticString = "REDACTED"

    private var texts: [[UInt8]] = []
    /// Marks the first bytes of all values, so that most texts need only a quick look.
    private var beginnings = [Bool](repeating: false, count: 256)

    init(_ secrets: [String]) {
        for secret in secrets where secret.utf8.count >= Self.shortest {
            // a value with escapes may appear decoded
            let decoded = PercentCoding.decodeBytes(secret.utf8, plusAsSpace: false)
            for form in [Array(secret.utf8), decoded] where form.count >= Self.shortest && !texts.contains(form) {
                texts.append(form)
            }
        }
        // the longest first, as one may begin with another
        texts.sort { $0.count > $1.count }
        for text in texts {
            beginnings[Int(text[0])] = true
            beginnings[Int(Self.percent)] = true
            if text[0] == ASCII.space { beginnings[Int(Self.plus)] = true }
        }
    }

    var isEmpty: Bool { texts.isEmpty }

    /// Removes the values from the bytes after this position.
    func remove(from bytes: inout [UInt8], behind start: Int = 0) {
        guard !isEmpty, let first = place(in: bytes, from: start) else { return }
        var out = Array(bytes[..<first.lowerBound])
        var found: Range<Int>? = first
        var position = first.lowerBound
        while let range = found {
            out += bytes[position..<range.lowerBound]
            out.append(literal: Self.replacement)
            position = range.upperBound
            found = place(in: bytes, from: position)
        }
        bytes = out + bytes[position...]
    }

    private func place(in bytes: [UInt8], from start: Int) -> Range<Int>? {
        for index in start..<max(start, bytes.count) where beginnings[Int(bytes[index])] {
            for text in texts {
                if let end = Self.end(of: text, in: bytes, at: index) { return index..<end }
            }
        }
        return nil
    }

    private static let percent: UInt8 = 0x25
    private static let plus: UInt8 = 0x2B

    /// The end of the text at this position, plain or percent-encoded (a space as + too); nil if it is not there.
    private static func end(of text: [UInt8], in bytes: [UInt8], at start: Int) -> Int? {
        if bytes[start...].starts(with: text) { return start + text.count }
        var index = start
        for byte in text {
            guard index < bytes.count else { return nil }
            if bytes[index] == percent, index + 2 < bytes.count, let high = ASCII.hexValue(bytes[index + 1]),
                let low = ASCII.hexValue(bytes[index + 2])
            {
                guard high << 4 | low == byte else { return nil }
                index += 3
            } else {
                guard bytes[index] == byte || byte == ASCII.space && bytes[index] == plus else { return nil }
                index += 1
            }
        }
        return index
    }
}
