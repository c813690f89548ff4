extension TextMatcher {
    /// Whether it takes this text, letter case included.
    public func accepts(_ text: String) -> Bool {
        let matcher = Matcher(self, ignoringCase: false)
        return matcher.accepts(text.utf8.span)
    }
}
