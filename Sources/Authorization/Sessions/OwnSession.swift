internal import HTTPCodec
public import Interception
internal import Synchronization

/// A session that Usher logged in for itself. An object, of which whoever uses it holds a reference: it is over with the last
/// of them, and AM is told then where the configuration says so.
public final class OwnSession: Sendable {
    /// A session that nobody has use for any more.
    public struct End: Sendable {
        public let call: ServerCall
        /// The only one who is told.
        public let server: AuthorizationServer
    }

    public let source: SessionSource
    public let server: AuthorizationServer
    private let realm: String
    /// Until then its idle time can be begun anew; from there on it takes another login.
    public let renewableUntil: Int
    private let onEnd: (@Sendable (End) -> Void)?
    private let isOver = Atomic(false)

    /// - Parameter onEnd: has AM told; nil where the session is left to its end.
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

    /// AM has ended it: it is told nothing.
    private func retire() { isOver.store(true, ordering: .relaxed) }

    /// The same with another token: AM has put that in its place.
    public func upgraded(to token: String, affinity: String?) -> OwnSession {
        retire()
        return OwnSession(
            SessionSource(token: token, carrier: .provided, affinity: affinity ?? source.affinity), at: server,
            realm: realm, renewableUntil: renewableUntil, onEnd: onEnd)
    }
}

/// What is asked of AM about a session.
enum SessionQuestion: String {
    case info = "getSessionInfo"
    case reset = "getSessionInfoAndResetIdleTime"
    case logout
}

extension AuthorizationServer {
    /// Of the endpoint for sessions; AM answers 404 to a version that it does not know.
    static let sessionsVersion = "protocol=1.0,resource=3.1"

    /// A call to AM's endpoint for sessions.
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
