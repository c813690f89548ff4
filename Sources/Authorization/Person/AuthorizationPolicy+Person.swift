extension AuthorizationPolicy {
    /// A person may be asked.
    public var asksPerson: Bool { person.isAsked || answers.contains { $0.response == .ask } }
}
