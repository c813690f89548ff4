/// Every interceptor that is built in. A new one is a file of its own, a line here and its test.
public enum BuiltInCatalogue {
    /// In the order in which editors show them.
    public static let all: [any BuiltIn.Type] = [
        UserAgent.self, BasicAuthentication.self, BusyReplay.self, SessionCookie.self, IAMCookie.self,
    ]

    public static func kind(named name: String) -> (any BuiltIn.Type)? { all.first { $0.name == name } }
}
