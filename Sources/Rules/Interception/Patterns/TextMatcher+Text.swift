internal import HTTPCodec

extension TextMatcher {
    /// Whether the matcher accepts this text, case-sensitively.
    public func accepts(_ text: String) -> Bool {
        let matcher = Matcher(self, ignoringCase: false)
        return matcher.accepts(text.utf8.span)
    }

    /// The matcher for paths, with its text in the paths' normal form. A regular expression is unchanged.
    public var onPaths: TextMatcher {
        switch self {
        case .exact(let text): .exact(Self.normalPath(text))
        case .glob(let text): .glob(Self.normalPath(text))
        case .pattern, .range: self
        }
    }

    private static func normalPath(_ text: String) -> String {
        String(decoding: NormalPath.of(text.utf8), as: UTF8.self)
    }
}
