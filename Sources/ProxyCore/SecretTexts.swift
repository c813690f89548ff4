internal import Formats
internal import HTTPCodec

/// What references of the configuration were filled in with: where it stands in words or URLs, it is taken out.
struct SecretTexts: Sendable {
    /// Fewer bytes are too common to be looked for, and no secret.
    static let shortest = 6
    static let replacement: StaticString = "REDACTED"

    private var texts: [[UInt8]] = []
    /// The bytes that they begin with: most places need no more than a look here.
    private var beginnings = [Bool](repeating: false, count: 256)

    init(_ secrets: [String]) {
        for secret in secrets where secret.utf8.count >= Self.shortest {
            for form in [secret, PercentCoding.encode(secret)] where !texts.contains(Array(form.utf8)) {
                texts.append(Array(form.utf8))
            }
        }
        // the longest first: one may begin with another
        texts.sort { $0.count > $1.count }
        for text in texts { beginnings[Int(text[0])] = true }
    }

    var isEmpty: Bool { texts.isEmpty }

    /// Takes them out of what stands behind a place.
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
            for text in texts where bytes[index...].starts(with: text) { return index..<index + text.count }
        }
        return nil
    }
}
