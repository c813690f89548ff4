internal import _StringProcessing

/// A regular expression of the configuration. Letters compare by Unicode scalar, as they stand on the wire.
public struct Pattern: Sendable {
    /// Regex is a type whose size only its library knows; behind a reference it does not make everything that holds a
    /// pattern slow to copy.
    private final class Compiled: @unchecked Sendable {
        // Regex is not Sendable because it may carry transform closures; one compiled from text carries none and is
        // never mutated, so sharing it between loops is safe.
        let regex: Regex<AnyRegexOutput>

        init(_ regex: Regex<AnyRegexOutput>) { self.regex = regex }
    }

    private let compiled: Compiled
    public let text: String

    private var regex: Regex<AnyRegexOutput> { compiled.regex }

    /// - Throws: the regex parser's own error, whose description names the place.
    public init(_ text: String) throws {
        self.init(regex: try Regex(text).matchingSemantics(.unicodeScalar), text: text)
    }

    private init(regex: Regex<AnyRegexOutput>, text: String) {
        compiled = Compiled(regex)
        self.text = text
    }

    /// The same expression without regard to letter case.
    func ignoringCase() -> Pattern { Pattern(regex: regex.ignoresCase(), text: text) }

    /// True when the expression is found anywhere in the text.
    func isFound(in text: String) -> Bool { text.firstMatch(of: regex) != nil }

    /// The text with every match replaced; nil when there is none. In the replacement `$0` is the match, `$1` to `$9`
    /// are its groups (empty where one took no part), `$$` is a dollar sign.
    func replacing(in text: String, with replacement: String) -> String? {
        let matches = text.matches(of: regex)
        guard !matches.isEmpty else { return nil }
        var out = ""
        var position = text.startIndex
        for match in matches {
            out += text[position..<match.range.lowerBound]
            Self.expand(replacement, match.output, into: &out)
            position = match.range.upperBound
        }
        return out + text[position...]
    }

    private static func expand(_ replacement: String, _ groups: AnyRegexOutput, into out: inout String) {
        var rest = replacement[...]
        while let character = rest.popFirst() {
            guard character == "$", let next = rest.first else {
                out.append(character)
                continue
            }
            if next == "$" {
                out.append("$")
                rest.removeFirst()
            } else if next.isASCII, let group = next.wholeNumberValue {
                if group < groups.count, let text = groups[group].substring { out += text }
                rest.removeFirst()
            } else {
                out.append(character)
            }
        }
    }
}
