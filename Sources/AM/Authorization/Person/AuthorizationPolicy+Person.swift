extension AuthorizationPolicy {
    /// True if a person may be asked.
    public var asksPerson: Bool { person.isAsked || answers.contains { $0.response == .ask } }
}
