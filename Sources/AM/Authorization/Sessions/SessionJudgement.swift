public import Formats
public import HTTPCodec
public import Interception

/// Decides which requests get a session and what responses say about it.
extension AuthorizationPolicy {
    /// Whether Usher has to find a session for a request, given as the client sent it.
    public func lacksSession(_ head: RequestHead) -> Bool {
        guard sessions.source != .request, !isPolicyEvaluation(head) else { return false }
        return SessionSource.find(in: head, body: nil, policy: self) == nil
    }

    /// The reason why a request must not carry a session as it stands now, as one sentence; nil if it may. Even after changes
    /// by interceptors, it must go to a configured resource.
    public func refusalToShowSession(on head: RequestHead) -> String? {
        guard head.method != .trace else { return "a response to a TRACE would show the session" }
        // a CORS preflight carries no credentials (Fetch, CORS preflight)
        guard head.method != .options else { return "OPTIONS is asked without a session" }
        guard coverage(of: head) != nil else {
            return
                "interceptors send the request to what authorization.resources do not name, and no session goes there"
        }
        return URLPlace(head.originText)?.refusal(of: head, "the request", "the resource that is asked")
    }

    /// Whether a response asks for a sign-in, so that there is no valid session. A request for a step-up does not count.
    public func asksToSignIn(_ response: ResponseHead, to sent: RequestHead) -> Bool {
        switch response.status {
        case 401: return true
        case 301, 302, 303, 307, 308:
            guard let location = response.fields["Location"] else { return false }
            return URLReference.resolve(location, against: sent).map(server.signsIn) ?? false
        default: return false
        }
    }
}

extension AuthorizationPolicy {
    /// Whether the policy uses the learned data.
    public func wants(_ news: LearnedSessions.News) -> Bool {
        switch news {
        case .session: sessions.source == .learned || showsIDToken
        case .idToken: showsIDToken
        }
    }
}

/// The effect of a client's exchange with AM on the client's session.
public enum SessionEvent: Equatable, Sendable {
    case news(LearnedSessions.News)
    /// These sessions have ended.
    case ended(Set<String>)
    /// The client's session has ended, whichever it was, and so have these.
    case left(Set<String>)
}

extension AuthorizationServer {
    /// Whether a request goes to this server and to no other application of its host.
    public func isPlace(of sent: RequestHead) -> Bool {
        guard let place = URLPlace(url), place.refusal(of: sent, "the request", "the configured AM") == nil else {
            return false
        }
        return place.holds(sent) || paths.values.contains(sent.path)
    }

    /// Whether the response body of this Action may contain a session or token.
    public static func tells(_ action: Action) -> Bool {
        [.startAuthenticate, .authenticate, .resumeAuthenticate, .exchangeToken, .refreshToken].contains(action)
    }

    /// - Parameters:
    /// - action: LOGOUT also for a possible one.
    /// - isSure: true if the request certainly is that Action.
    /// - sent: the request as sent.
    /// - body: the request body, if it was buffered.
    /// - answer: the response body, if it was read.
    public func event(
        _ action: Action, isSure: Bool = true, sent: RequestHead, body: [UInt8], _ response: ResponseHead,
        _ answer: JSONValue?
    ) -> SessionEvent? {
        if action == .logout || action == .endSession {
            // AM's page for a logout may redirect elsewhere
            guard (200..<400).contains(response.status), URLPlace(url)?.isOrigin(of: sent) == true else { return nil }
            return end(action == .logout && isSure, sent, body)
        }
        // other applications on the host do not speak for AM
        guard isPlace(of: sent) else { return nil }
        switch action {
        case .startAuthenticate, .authenticate, .resumeAuthenticate:
            guard response.status == 200, let answer, answer.members != nil, answer["authId"] == nil,
                let won = WonSession(answer, response.fields, cookie: cookie)
            else { return nil }
            let affinity = response.fields.values(named: "Set-Cookie").compactMap { SetCookie($0) }
                .last { $0.name == SessionSource.affinityCookie && !$0.deletes && SessionSource.isUsable($0.value) }
            return .news(.session(.init(token: won.token, carrier: .provided, affinity: affinity?.value)))
        case .exchangeToken, .refreshToken:
            guard response.status == 200, let token = answer?["id_token"]?.text, !token.isEmpty,
                FieldSyntax.isValue(token), token.utf8.count <= SessionSource.longest
            else { return nil }
            return .news(.idToken(token))
        default: return nil
        }
    }

    /// The sessions that the request ends. AM uses a token named in the request before the session that it carries.
    private func end(_ isLogout: Bool, _ sent: RequestHead, _ body: [UInt8]) -> SessionEvent {
        let named = Self.named(by: sent, body: body)
        let all = sessions(in: sent, body: body)
        return isLogout && !all.isEmpty ? .ended(named.isEmpty ? all : named) : .left(all)
    }
}
