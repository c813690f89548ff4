public import HTTPCodec
public import Interception

/// The allowed destination of a call by Usher, because the call carries a session or password.
public enum CallBound: Sendable {
    case server(AuthorizationServer)
    /// This configured URL, and no other path of its host.
    case url(String)

    /// The reason why the call may not go out after interceptors changed it, as one sentence; nil if it may.
    public func refusal(of head: RequestHead) -> String? {
        switch self {
        case .server(let server): server.refusal(of: head)
        case .url(let url): Self.refusal(of: head, url)
        }
    }

    private static func refusal(of head: RequestHead, _ url: String) -> String? {
        guard let place = URLPlace(url), let meant = try? RequestHead(method: "POST", url: url) else {
            return "the URL of the login cannot be read"
        }
        if let refusal = place.refusal(of: head, "the login", "its origin") { return refusal }
        guard head.path == meant.path else { return "the login was directed to another path than that of \(url)" }
        return nil
    }
}

extension URLPlace {
    /// The reason why a call may not go to its target; nil if the target is this origin.
    /// - Parameters:
    /// - call: the subject of the sentence.
    /// - owner: the owner of the place.
    func refusal(of head: RequestHead, _ call: String, _ owner: String) -> String? {
        guard isOrigin(of: head) else {
            return
                "\(call) was directed to \(head.target.scheme.name)://\(head.fields.text(head.target.authority))"
                + ", which is not \(owner)"
        }
        // behind a shared front end, Host decides which server receives the request
        for value in head.fields.values(named: "Host") {
            var named = head
            guard (try? named.adopt(authority: value, scheme: head.target.scheme)) != nil, isOrigin(of: named)
            else { return "\(call) names \(LogText.shown(value)) in Host, which is not \(owner)" }
        }
        return nil
    }
}
