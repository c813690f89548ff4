public import HTTPCodec
public import Interception

/// Where a call of Usher's own may go, for it carries what is nobody else's: a session, a password.
public enum CallBound: Sendable {
    case server(AuthorizationServer)
    /// To this URL of the configuration, and no other path of its host.
    case url(String)

    /// Why the call may not go out as interceptors left it, one sentence; nil where it may.
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
    /// Why a call to this place may not go out as it is; nil where it goes to its origin.
    /// - Parameters:
    ///   - call: the subject of a sentence.
    ///   - owner: whose the place is.
    func refusal(of head: RequestHead, _ call: String, _ owner: String) -> String? {
        guard isOrigin(of: head) else {
            return
                "\(call) was directed to \(head.target.scheme.name)://\(head.fields.text(head.target.authority))"
                + ", which is not \(owner)"
        }
        // behind a shared front end it is this field that decides who gets the request
        for value in head.fields.values(named: "Host") {
            var named = head
            guard (try? named.adopt(authority: value, scheme: head.target.scheme)) != nil, isOrigin(of: named)
            else { return "\(call) names \(LogText.shown(value)) in Host, which is not \(owner)" }
        }
        return nil
    }
}
