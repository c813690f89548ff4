extension AuthorizationPolicy {
    /// A person may be asked.
    public var asksPerson: Bool { person.isAsked || answers.contains { $0.response == .ask } }

    /// It answers something by itself: AM could refuse that with nobody there.
    public var answersByItself: Bool { answers.contains { $0.response != .ask } }
}
