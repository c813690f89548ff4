import Foundation

/// Keys, proofs and names that are drawn at random: the first of a conversation stands in its trace as `{drawn 1}`, wherever it
/// comes again.
struct TraceMask {
    /// What stands before such a value.
    private static let marks = [
        "Sec-WebSocket-Key: ", "Sec-WebSocket-Accept: ", "DPoP: ", "\"jwt\":\"", "(usher answer ", "state=", "nonce=",
        "code_challenge=", "code_verifier=",
    ].map { Data($0.utf8) }
    private static let ends = Array("\r\n\")& ".utf8)

    private var drawn: [Data] = []

    mutating func masked(_ bytes: [UInt8]) -> [UInt8] {
        var text = Data(bytes)
        for mark in Self.marks {
            var rest = text[...]
            while let found = rest.range(of: mark) {
                rest = rest[found.upperBound...]
                let value = Data(rest.prefix { !Self.ends.contains($0) })
                if !value.isEmpty, !drawn.contains(value) { drawn.append(value) }
            }
        }
        for (index, value) in drawn.enumerated() {
            var place = text.startIndex
            while let found = text.range(of: value, in: place..<text.endIndex) {
                let name = Data("{drawn \(index + 1)}".utf8)
                text.replaceSubrange(found, with: name)
                place = found.lowerBound + name.count
            }
        }
        return Array(text)
    }
}
