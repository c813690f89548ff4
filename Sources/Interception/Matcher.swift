internal import Formats
internal import HTTPCodec

/// A `TextMatcher` made ready to compare bytes. None makes a String.
enum Matcher: Sendable {
    case exact([UInt8])
    /// In lower case already.
    case exactIgnoringCase([UInt8])
    case glob([UInt8], ignoringCase: Bool)
    case pattern(Pattern)
    case range(ClosedRange<Int>)

    init(_ matcher: TextMatcher, ignoringCase: Bool) {
        switch matcher {
        case .exact(let text) where ignoringCase: self = .exactIgnoringCase(text.utf8.map(ASCII.lower))
        case .exact(let text): self = .exact(Array(text.utf8))
        case .glob(let text): self = .glob(Array(text.utf8), ignoringCase: ignoringCase)
        case .pattern(let pattern): self = .pattern(ignoringCase ? pattern.ignoringCase() : pattern)
        case .range(let range): self = .range(range)
        }
    }

    func accepts(_ value: Span<UInt8>) -> Bool {
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

extension TextMatcher: CustomStringConvertible {
    /// As the configuration writes it.
    public var description: String {
        switch self {
        case .exact(let text), .glob(let text): text
        case .pattern(let pattern): "~\(pattern.watch.written)"
        case .range(let range): range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
        }
    }
}
