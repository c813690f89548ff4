internal import HTTPCodec

/// A session of a user.
struct Session: Sendable {
    var token: String
    /// The audit tracking id, which transactions and id tokens are bound to. It is no credential.
    var trackingId: String
    var user: String
    var realm: String
    /// The trees that the session has passed.
    var services: Set<String>
    /// The highest level of these trees.
    var level: Int
    var created: Int
    var lastUsed: Int
}

/// The session cookie.
struct SessionCookie: Sendable {
    let name: String

    /// The session of a request: in the cookie, else in the header of the same name.
    func token(of request: SandboxRequest) -> String? { request.cookie(name) ?? request.head.fields[name] }

    /// `name=token; Path=/`, or the line that deletes the cookie.
    func field(_ token: String?) -> (name: String, value: String) {
        var line = "\(name)=\(token ?? ""); Path=/"
        if token == nil { line += "; Expires=Thu, 01 Jan 1970 00:00:00 GMT" }
        return ("Set-Cookie", line)
    }
}

struct SessionTable: Sendable {
    let cookie: SessionCookie
    private var sessions: ExpiringTable<Session>
    /// Seconds.
    let maxLife: Int
    let maxIdle: Int
    /// Counters since the start.
    private(set) var created = 0
    private(set) var ended = 0

    init(_ options: SandboxOptions) {
        cookie = SessionCookie(name: options.cookieName)
        maxLife = options.lives.session
        maxIdle = options.lives.sessionIdle
        sessions = ExpiringTable(lifetime: maxLife)
    }

    /// The valid session with this token. Does not reset its idle time.
    func find(_ token: String, now: Int) -> Session? {
        guard let session = sessions.value(token, now: now), now < session.lastUsed + maxIdle else {
            return nil
        }
        return session
    }

    func find(shownBy request: SandboxRequest, now: Int) -> Session? {
        cookie.token(of: request).flatMap { find($0, now: now) }
    }

    mutating func touch(_ token: String, now: Int) {
        guard var session = find(token, now: now) else { return }
        session.lastUsed = now
        sessions.replace(token, session)
    }

    mutating func create(
        user: String, realm: String, services: Set<String>, level: Int, from tokens: inout TokenSource, now: Int
    ) -> Session {
        let session = Session(
            token: tokens.sessionToken(), trackingId: tokens.uuid(), user: user, realm: realm, services: services,
            level: level, created: now, lastUsed: now)
        sessions.insert(session, id: session.token, now: now)
        created += 1
        return session
    }

    mutating func end(_ token: String) {
        if sessions.remove(token) != nil { ended += 1 }
    }

    mutating func end(trackingId: String) {
        sessions.removeAll { $0.trackingId == trackingId }
        ended += 1
    }
}
