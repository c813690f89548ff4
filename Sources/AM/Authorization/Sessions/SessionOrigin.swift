public import HTTPCodec
internal import Interception

/// The origin of a request's session.
public enum SessionOrigin: String, Sendable, CaseIterable {
    case cookie, header
    /// The user in question of a policy evaluation.
    case subject
    case learned, login
    case none
}

extension AuthorizationPolicy {
    /// - Parameter body: the whole body, read for a policy evaluation only.
    public func sessionOrigin(of head: RequestHead, body: [UInt8]?) -> SessionOrigin {
        switch SessionSource.find(in: head, body: body, policy: self)?.carrier {
        case .cookie: .cookie
        case .header: .header
        case .subject: .subject
        case .provided, nil:
            switch lacksSession(head) && isShown(head) ? sessions.source : .request {
            case .request: .none
            case .learned: .learned
            case .login: .login
            }
        }
    }

    /// True if Usher provides a session. A client that steps up by itself gets one only for an enforced resource.
    private func isShown(_ head: RequestHead) -> Bool {
        guard let covered = coverage(of: head), RequestInitiator(head).refusal(listed: origins) == nil else {
            return false
        }
        return covered.isEnforced || covered.resource.translation == nil && !clientHandlesAdvice(head)
    }

    /// The origin as text that follows "Session".
    public func words(of origin: SessionOrigin) -> String {
        switch origin {
        case .cookie: "of the request, in the cookie \(server.cookie)"
        case .header: "of the request, in the header \(server.cookie)"
        case .subject: "subject.ssoToken of the question"
        case .none: "none: the request carries no cookie and no header \(server.cookie)"
        case .learned: "of this client's latest login at \(server.url) that was seen (\(sessions.identity.words))"
        case .login: "of \(sessions.login.words) at \(server.url)"
        }
    }

    /// The configured origins as text.
    public var sessionWords: String {
        switch sessions.source {
        case .request: "the request's own"
        case .learned: "the request's own, else \(words(of: .learned))"
        case .login: "the request's own, else \(words(of: .login))"
        }
    }
}

extension SessionPolicy.Identity {
    public var words: String {
        switch self {
        case .client: "clients by proxy user, else by address"
        case .user: "clients by proxy user"
        case .address: "clients by address"
        case .header(let name): "clients by the header \(name), for each proxy user or address"
        }
    }
}

extension SessionLogin {
    public var words: String {
        "a login of Usher's own by \(tree.map { "the tree \($0)" } ?? "the default tree") in realm \(realm)"
            + (logsOut ? ", ended there when nobody uses it" : "")
    }
}
