/// All built-in interceptors. To add one: a file, a line here, and a test.
public enum BuiltInCatalogue {
    /// In the order in which editors list them.
    public static let all: [any BuiltIn.Type] = [
        UserAgent.self, BasicAuthentication.self, BusyReplay.self, SessionCookie.self, IAMCookie.self,
        FaultByName.self, Vary.self, RecordedAnswers.self, Script.self,
    ]

    public static func kind(named name: String) -> (any BuiltIn.Type)? { all.first { $0.name == name } }
}
