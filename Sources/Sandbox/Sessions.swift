/// A signed-in user.
struct Session: Sendable {
    var token: String
    /// Audit tracking id: what transactions and id tokens are bound to. It never leaves the server as a credential.
    var trackingId: String
    var user: String
    var realm: String
    /// The trees that this session has passed.
    var services: Set<String>
    var created: Int
    var lastUsed: Int

    static let maxLife = 120 * 60
    static let maxIdle = 30 * 60
}

struct SessionTable: Sendable {
    private var sessions = ExpiringTable<Session>(lifetime: Session.maxLife)

    /// The session with that token, if it lives. Does not touch its idle time.
    func find(_ token: String, now: Int) -> Session? {
        guard let session = sessions.value(token, now: now), now < session.lastUsed + Session.maxIdle else {
            return nil
        }
        return session
    }

    mutating func touch(_ token: String, now: Int) {
        guard var session = find(token, now: now) else { return }
        session.lastUsed = now
        sessions.replace(token, session)
    }

    mutating func create(
        user: String, realm: String, services: Set<String>, from tokens: inout TokenSource, now: Int
    ) -> Session {
        let session = Session(
            token: tokens.sessionToken(), trackingId: tokens.uuid(), user: user, realm: realm, services: services,
            created: now, lastUsed: now)
        sessions.insert(session, id: session.token, now: now)
        return session
    }

    mutating func end(_ token: String) { sessions.remove(token) }

    mutating func end(trackingId: String) { sessions.removeAll { $0.trackingId == trackingId } }
}
