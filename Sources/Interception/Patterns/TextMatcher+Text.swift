internal import HTTPCodec

extension TextMatcher {
    /// Whether it takes this text, letter case included.
    public func accepts(_ text: String) -> Bool {
        let matcher = Matcher(self, ignoringCase: false)
        return matcher.accepts(text.utf8.span)
    }

    /// For paths, which are compared in their normal form: its own text in that form, too. An expression stays as it is.
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
