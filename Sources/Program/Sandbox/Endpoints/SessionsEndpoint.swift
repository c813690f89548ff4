internal import Formats
internal import HTTPCodec

/// `POST json/…/sessions?_action=…`.
enum SessionsEndpoint {
    /// The token comes from `tokenId` in the body or query, the older path form, the cookie, or the header, in this order.
    static func answer(_ call: RESTCall, _ sessions: inout SessionTable) -> SandboxResponse {
        let (request, rest, now) = (call.request, call.route.rest, call.now)
        guard request.head.method == .post else { return .fault(501, "Not Supported") }
        let body = request.body.isEmpty ? nil : try? JSONValue(parsing: request.body)
        let named = body?["tokenId"]?.text ?? request.query["tokenId"] ?? (rest.count > 1 ? rest[1] : nil)
        guard let token = named ?? sessions.cookie.token(of: request), !token.isEmpty else {
            return .fault(400, "The request has no tokenId", note: "no tokenId")
        }
        let session = sessions.find(token, now: now)
        switch request.query["_action"] {
        case "logout":
            sessions.end(token)
            let text = session == nil ? "Token has expired" : "Successfully logged out"
            let note = session.map { "\($0.user) signed out" } ?? "no such session"
            var response = SandboxResponse.json(200, ["result": .string(text)], note: note)
            response.fields.append(sessions.cookie.field(nil))
            return response
        case "validate":
            guard let session else { return .json(200, ["valid": false], note: "session is invalid") }
            if request.query["refresh"] != "false" { sessions.touch(token, now: now) }
            let answer: JSONValue = [
                "valid": true, "sessionUid": .string(session.trackingId), "uid": .string(session.user),
                "realm": .string(session.realm),
            ]
            return .json(200, answer, note: "session of \(session.user) is valid")
        case "getSessionInfo":
            return information(session, sessions)
        case "getSessionInfoAndResetIdleTime":
            sessions.touch(token, now: now)
            return information(sessions.find(token, now: now), sessions)
        case "refresh":
            guard let session else { return .fault(401, "Unauthorized", note: "session is invalid") }
            sessions.touch(token, now: now)
            let answer: JSONValue = [
                "uid": .string(session.user), "realm": .string(session.realm), "idletime": 0,
                "maxidletime": .integer(sessions.maxIdle / 60), "maxsessiontime": .integer(sessions.maxLife / 60),
                "maxtime": .integer(session.created + sessions.maxLife - now),
            ]
            return .json(200, answer, note: "session of \(session.user) refreshed")
        default:
            return .fault(501, "Not Supported", note: "unsupported action")
        }
    }

    private static func information(_ session: Session?, _ sessions: SessionTable) -> SandboxResponse {
        guard let session else { return .fault(401, "Unauthorized", note: "session is invalid") }
        func time(_ seconds: Int) -> JSONValue { .string(CalendarTime(seconds).internet) }
        let suffix = RealmRoute.distinguishedName(session.realm)
        let answer: JSONValue = [
            "username": .string(session.user), "universalId": "id=\(session.user),ou=user,\(suffix)",
            "realm": .string(session.realm), "latestAccessTime": time(session.lastUsed),
            "maxIdleExpirationTime": time(session.lastUsed + sessions.maxIdle),
            "maxSessionExpirationTime": time(session.created + sessions.maxLife), "properties": [:],
        ]
        return .json(200, answer, note: "session of \(session.user): information")
    }
}
