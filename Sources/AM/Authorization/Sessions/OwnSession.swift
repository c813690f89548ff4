internal import HTTPCodec
public import Interception
internal import Synchronization

/// A session that Usher logged in for. Its users hold references. When the last one is gone, the session is logged out at AM if
/// so configured.
public final class OwnSession: Sendable {
    /// The logout of an unused session.
    public struct End: Sendable {
        public let call: ServerCall
        /// The only server that the call may go to.
        public let server: AuthorizationServer
    }

    public let source: SessionSource
    public let server: AuthorizationServer
    private let realm: String
    /// Until then its idle time can be reset; afterwards a new login is needed.
    public let renewableUntil: Int
    private let onEnd: (@Sendable (End) -> Void)?
    private let isOver = Atomic(false)

    /// - Parameter onEnd: makes the logout call; nil to let the session expire.
    public init(
        _ source: SessionSource, at server: AuthorizationServer, realm: String, renewableUntil: Int,
        onEnd: (@Sendable (End) -> Void)?
    ) {
        self.source = source
        self.server = server
        self.realm = realm
        self.renewableUntil = renewableUntil
        self.onEnd = onEnd
    }

    deinit {
        guard let onEnd, !isOver.load(ordering: .relaxed),
            let call = try? server.sessionCall(.logout, source, realm: realm, number: 1)
        else { return }
        onEnd(End(call: call, server: server))
    }

    /// Marks the session as ended by AM, so that no logout is sent.
    private func retire() { isOver.store(true, ordering: .relaxed) }

    /// The session after AM has replaced its token.
    public func upgraded(to token: String, affinity: String?) -> OwnSession {
        retire()
        return OwnSession(
            SessionSource(token: token, carrier: .provided, affinity: affinity ?? source.affinity), at: server,
            realm: realm, renewableUntil: renewableUntil, onEnd: onEnd)
    }
}

/// The `_action` of a call about a session.
enum SessionQuestion: String {
    case info = "getSessionInfo"
    case reset = "getSessionInfoAndResetIdleTime"
    case logout
}

extension AuthorizationServer {
    /// The version of the sessions endpoint. AM responds 404 to an unknown one.
    static let sessionsVersion = "protocol=1.0,resource=3.1"

    /// A call to AM's sessions endpoint.
    func sessionCall(
        _ question: SessionQuestion, _ session: SessionSource, realm: String, number: Int
    ) throws(HTTPFault) -> ServerCall {
        var url = try sessionsURL(realm: realm)
        url += (url.utf8.contains(0x3F) ? "&" : "?") + "_action=\(question.rawValue)"
        var head = try RequestHead(method: "POST", url: url)
        head.fields.add("Accept", "application/json")
        head.fields.add("Accept-API-Version", Self.sessionsVersion)
        head.fields.add("Content-Type", "application/json")
        head.fields.add("X-Requested-With", StepUp.requestedWith)
        var line = CookieText("\(cookie)=\(session.token)")
        if let affinity = session.affinity { line.set(SessionSource.affinityCookie, affinity) }
        head.fields.add("Cookie", line.text)
        return ServerCall(
            head: head, body: Array("{}".utf8), number: number, action: question == .logout ? .logout : .sessionInfo,
            payload: nil, carriesAnswers: false)
    }
}
