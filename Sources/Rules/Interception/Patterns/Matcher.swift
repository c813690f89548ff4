internal import Formats

/// A `TextMatcher` compiled to compare bytes without creating a String.
public enum Matcher: Sendable {
    case exact([UInt8])
    /// In lower case.
    case exactIgnoringCase([UInt8])
    case glob([UInt8], ignoringCase: Bool)
    case pattern(Pattern)
    case range(ClosedRange<Int>)

    public init(_ matcher: TextMatcher, ignoringCase: Bool) {
        switch matcher {
        case .exact(let text) where ignoringCase: self = .exactIgnoringCase(text.utf8.map(ASCII.lower))
        case .exact(let text): self = .exact(Array(text.utf8))
        case .glob(let text): self = .glob(Array(text.utf8), ignoringCase: ignoringCase)
        case .pattern(let pattern): self = .pattern(ignoringCase ? pattern.ignoringCase() : pattern)
        case .range(let range): self = .range(range)
        }
    }

    public func accepts(_ value: Span<UInt8>) -> Bool {
        switch self {
        case .exact(let text): Self.equal(value, text, fold: false)
        case .exactIgnoringCase(let text): Self.equal(value, text, fold: true)
        case .glob(let text, let ignoringCase): Glob.matches(text, value, ignoringCase: ignoringCase)
        case .pattern(let pattern): pattern.isFound(in: value)
        case .range(let range): Self.number(value).map(range.contains) ?? false
        }
    }

    private static func equal(_ value: Span<UInt8>, _ text: [UInt8], fold: Bool) -> Bool {
        guard value.count == text.count else { return false }
        for index in 0..<text.count where (fold ? ASCII.lower(value[index]) : value[index]) != text[index] {
            return false
        }
        return true
    }

    private static func number(_ value: Span<UInt8>) -> Int? {
        guard !value.isEmpty, value.count <= 18 else { return nil }
        var number = 0
        for index in 0..<value.count {
            guard ASCII.isDigit(value[index]) else { return nil }
            number = number * 10 + Int(value[index] - 0x30)
        }
        return number
    }
}

extension TextMatcher {
    /// Parses a status: `401`, `5xx`, `400-499`; nil for anything else.
    public init?(status text: String) {
        let bytes = Array(text.utf8)
        if bytes.count == 3, bytes[1...].allSatisfy({ ASCII.lower($0) == 0x78 }), (0x31...0x35).contains(bytes[0]) {
            let hundred = Int(bytes[0] - 0x30) * 100
            self = .range(hundred...hundred + 99)
            return
        }
        let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard bounds.allSatisfy({ (100...599).contains($0) }) else { return nil }
        switch bounds.count {
        case 1: self = .exact(text)
        case 2 where bounds[0] <= bounds[1]: self = .range(bounds[0]...bounds[1])
        default: return nil
        }
    }
}

extension TextMatcher: CustomStringConvertible {
    /// The form in the configuration.
    public var description: String {
        switch self {
        case .exact(let text), .glob(let text): text
        case .pattern(let pattern): "~\(pattern.watch.written)"
        case .range(let range): range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
        }
    }
}
