public import Formats
public import HTTPCodec
public import Interception

/// Which requests are shown a session that they do not carry, and what answers say of one.
extension AuthorizationPolicy {
    /// Whether Usher has to find a session for a request, as its client sent it.
    public func lacksSession(_ head: RequestHead) -> Bool {
        guard sessions.source != .request, !isPolicyEvaluation(head) else { return false }
        return SessionSource.find(in: head, body: nil, policy: self) == nil
    }

    /// Why a session may not go out with a request as it stands now, one sentence; nil where it may: to what the entry's
    /// resources name, whoever changed the request.
    public func refusalToShowSession(on head: RequestHead) -> String? {
        guard head.method != .trace else { return "an answer to a TRACE would show the session" }
        // a browser asks so what it may ask, and for nobody (Fetch, CORS preflight)
        guard head.method != .options else { return "OPTIONS is asked without a session" }
        guard coverage(of: head) != nil else {
            return
                "interceptors send the request to what authorization.resources do not name, and no session goes there"
        }
        return URLPlace(head.originText)?.refusal(of: head, "the request", "the resource that is asked")
    }

    /// Whether an answer says that there is no session, or none that is good: it asks for a sign-in, and for no step-up.
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
    /// Its requests have use for what was learned.
    public func wants(_ news: LearnedSessions.News) -> Bool {
        switch news {
        case .session: sessions.source == .learned || showsIDToken
        case .idToken: showsIDToken
        }
    }
}

/// What an exchange of a client with AM says of the client's session.
public enum SessionEvent: Equatable, Sendable {
    case news(LearnedSessions.News)
    /// These sessions are over.
    case ended(Set<String>)
    /// The client's is, whichever it was, and so are these.
    case left(Set<String>)
}

extension AuthorizationServer {
    /// Whether a request goes to this server, and to no other of its host.
    public func isPlace(of sent: RequestHead) -> Bool {
        guard let place = URLPlace(url), place.refusal(of: sent, "the request", "the configured AM") == nil else {
            return false
        }
        return place.holds(sent) || paths.values.contains(sent.path)
    }

    /// Whether the body of an answer may tell of a session or a token.
    public static func tells(_ action: Action) -> Bool {
        [.startAuthenticate, .authenticate, .resumeAuthenticate, .exchangeToken, .refreshToken].contains(action)
    }

    /// - Parameters:
    ///   - action: LOGOUT also for what may be one.
    ///   - isSure: the request is that Action.
    ///   - sent: the request, as it went out.
    ///   - body: of the request, where it was kept.
    ///   - answer: what the response's body says, where it was read.
    public func event(
        _ action: Action, isSure: Bool = true, sent: RequestHead, body: [UInt8], _ response: ResponseHead,
        _ answer: JSONValue?
    ) -> SessionEvent? {
        if action == .logout || action == .endSession {
            // the page of AM may lead elsewhere
            guard (200..<400).contains(response.status), URLPlace(url)?.isOrigin(of: sent) == true else { return nil }
            return end(action == .logout && isSure, sent, body)
        }
        // what another server of the same host says is no word of AM
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

    /// What is over behind such a request. AM takes what it names before what it carries.
    private func end(_ isLogout: Bool, _ sent: RequestHead, _ body: [UInt8]) -> SessionEvent {
        let named = Self.named(by: sent, body: body)
        let all = sessions(in: sent, body: body)
        return isLogout && !all.isEmpty ? .ended(named.isEmpty ? all : named) : .left(all)
    }
}
