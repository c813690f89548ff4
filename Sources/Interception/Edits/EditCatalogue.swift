/// Every edit that there is. A new one is a file of its own, a line here and its test.
public enum EditCatalogue {
    /// In the order in which editors show them.
    public static let all: [any Edit.Type] = [
        SetHeader.self, AddHeader.self, RemoveHeader.self, SetQuery.self, AddQuery.self, RemoveQuery.self,
        SetCookie.self, RemoveCookie.self, SetMethod.self, SetURL.self, SetHost.self, SetPath.self, RewriteURL.self,
        SetForm.self, AddForm.self, RemoveForm.self, SetJSON.self, RemoveJSON.self, SetBody.self, ReplaceBody.self,
        SetStatus.self, Respond.self, Abort.self,
    ]

    /// What the configuration's format knows and nobody has built.
    public static let planned = [
        PlannedEdit("delay", "delaying messages"),
        PlannedEdit("throttle", "slowing messages down"),
        PlannedEdit("retry", "repeating requests", [.response]),
    ]

    public static let request = all.compactMap { $0 as? any RequestEdit.Type }
    public static let response = all.compactMap { $0 as? any ResponseEdit.Type }

    public static func request(named name: String) -> (any RequestEdit.Type)? { request.first { $0.name == name } }
    public static func response(named name: String) -> (any ResponseEdit.Type)? { response.first { $0.name == name } }
}

/// An edit that is known and not done.
public struct PlannedEdit: Sendable {
    public enum Phase: Sendable { case request, response }

    public let name: String
    /// What it is for: "… is not available in this version".
    public let what: String
    public let phases: Set<Phase>

    init(_ name: String, _ what: String, _ phases: Set<Phase> = [.request, .response]) {
        self.name = name
        self.what = what
        self.phases = phases
    }
}
