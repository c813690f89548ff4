internal import HTTPCodec

/// `POST json/…/sessions?_action=…`.
extension SandboxServer {
    /// The token is taken from the body's or query's `tokenId`, the older path form, the cookie, the header, in this
    /// order.
    mutating func manageSessions(_ request: SandboxRequest, _ route: RealmRoute, _ now: Int) -> SandboxResponse {
        guard request.head.method == .post else { return .fault(501, "Not Supported") }
        let body = request.body.isEmpty ? nil : try? JSONValue(parsing: request.body)
        let named = body?["tokenId"]?.text ?? request.query["tokenId"] ?? (route.rest.count > 1 ? route.rest[1] : nil)
        guard let token = named ?? sessionToken(of: request), !token.isEmpty else {
            return .fault(400, "The request has no tokenId", note: "no session named")
        }
        let session = sessions.find(token, now: now)
        switch request.query["_action"] {
        case "logout":
            sessions.end(token)
            let text = session == nil ? "Token has expired" : "Successfully logged out"
            var response = SandboxResponse.json(
                200, .record(["result": .string(text)]),
                note: session.map { "\($0.user) signed out" } ?? "no such session")
            response.fields.append(sessionCookie(nil))
            return response
        case "validate":
            guard let session else { return .json(200, .record(["valid": .bool(false)]), note: "session is dead") }
            if request.query["refresh"] != "false" { sessions.touch(token, now: now) }
            let answer = JSONValue.record([
                "valid": .bool(true), "sessionUid": .string(session.trackingId), "uid": .string(session.user),
                "realm": .string(session.realm),
            ])
            return .json(200, answer, note: "session of \(session.user) is good")
        case "getSessionInfo":
            return sessionInfo(session)
        case "getSessionInfoAndResetIdleTime":
            sessions.touch(token, now: now)
            return sessionInfo(sessions.find(token, now: now))
        case "refresh":
            guard let session else { return .fault(401, "Unauthorized", note: "session is dead") }
            sessions.touch(token, now: now)
            let answer = JSONValue.record([
                "uid": .string(session.user), "realm": .string(session.realm), "idletime": .integer(0),
                "maxidletime": .integer(Session.maxIdle / 60), "maxsessiontime": .integer(Session.maxLife / 60),
                "maxtime": .integer(session.created + Session.maxLife - now),
            ])
            return .json(200, answer, note: "session of \(session.user) refreshed")
        default:
            return .fault(501, "Not Supported", note: "an action that sessions do not know")
        }
    }

    private func sessionInfo(_ session: Session?) -> SandboxResponse {
        guard let session else { return .fault(401, "Unauthorized", note: "session is dead") }
        func time(_ seconds: Int) -> JSONValue { .string(ISOTime.text(seconds)) }
        let suffix = RealmRoute.distinguishedName(session.realm)
        let answer = JSONValue.record([
            "username": .string(session.user), "universalId": .string("id=\(session.user),ou=user,\(suffix)"),
            "realm": .string(session.realm), "latestAccessTime": time(session.lastUsed),
            "maxIdleExpirationTime": time(session.lastUsed + Session.maxIdle),
            "maxSessionExpirationTime": time(session.created + Session.maxLife), "properties": .object([]),
        ])
        return .json(200, answer, note: "told about the session of \(session.user)")
    }
}

/// Points in time as text.
enum ISOTime {
    /// `2026-11-21T09:25:00Z` (RFC 3339).
    /// - Parameter seconds: since 1970.
    static func text(_ seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (day, second) = seconds.quotientAndRemainder(dividingBy: 86400)
        // days are counted from the first of March of year 0, so that the leap day ends a year and an era has 400
        let shifted = day + 719_468
        let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let date = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return "\(year)-\(two(month))-\(two(date))T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))Z"
    }
}
