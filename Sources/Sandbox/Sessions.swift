/// A signed-in user.
struct Session: Sendable {
    var token: String
    /// Audit tracking id: what transactions and id tokens are bound to. It never leaves the server as a credential.
    var trackingId: String
    var user: String
    var realm: String
    /// The trees that this session has passed.
    var services: Set<String>
    /// The highest level of those.
    var level: Int
    var created: Int
    var lastUsed: Int
}

struct SessionTable: Sendable {
    private var sessions: ExpiringTable<Session>
    /// Seconds.
    let maxLife: Int
    let maxIdle: Int
    /// Since the beginning.
    private(set) var created = 0
    private(set) var ended = 0

    init(maxLife: Int, maxIdle: Int) {
        self.maxLife = maxLife
        self.maxIdle = maxIdle
        sessions = ExpiringTable(lifetime: maxLife)
    }

    /// The session with that token, if it lives. Does not touch its idle time.
    func find(_ token: String, now: Int) -> Session? {
        guard let session = sessions.value(token, now: now), now < session.lastUsed + maxIdle else {
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
