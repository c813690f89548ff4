/// All edits. To add one: a file, a line here, and a test.
public enum EditCatalogue {
    /// In the order in which editors list them.
    public static let all: [any Edit.Type] = [
        SetHeader.self, AddHeader.self, RemoveHeader.self, SetQuery.self, AddQuery.self, RemoveQuery.self,
        SetCookie.self, RemoveCookie.self, SetMethod.self, SetURL.self, SetHost.self, SetPath.self, RewriteURL.self,
        SetForm.self, AddForm.self, RemoveForm.self, SetJSON.self, RemoveJSON.self, SetBody.self, ReplaceBody.self,
        ConvertBody.self, SetStatus.self, Delay.self, Throttle.self, Timeout.self, Fault.self, Limit.self, Retry.self,
        SetState.self, Log.self, SwiftEdit.self, Stop.self, Respond.self, Abort.self,
    ]

    public static let request = all.compactMap { $0 as? any RequestEdit.Type }
    public static let response = all.compactMap { $0 as? any ResponseEdit.Type }
    public static let error = all.compactMap { $0 as? any ErrorEdit.Type }

    public static func request(named name: String) -> (any RequestEdit.Type)? { request.first { $0.name == name } }
    public static func response(named name: String) -> (any ResponseEdit.Type)? { response.first { $0.name == name } }
    public static func error(named name: String) -> (any ErrorEdit.Type)? { error.first { $0.name == name } }
}
