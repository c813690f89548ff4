internal import Authorization
internal import Declaration
internal import HTTPCodec
internal import Interception
internal import ProxyCore

/// Builds the session policy from `session`, `login` and `learned` of an entry of `authorization`.
struct SessionBuilder {
    let findings: Findings
    let choice: ServerChoice
    /// The hosts that are decrypted.
    let opened: InterceptionPolicy
    /// True if clients authenticate with user names and passwords.
    let hasUsers: Bool

    /// - Parameter policy: the rest of the entry, including its answers.
    func sessions(_ fields: Fields, _ policy: AuthorizationPolicy) -> SessionPolicy {
        var sessions = KeyTable.sessionKeys.value(fields)
        sessions.login = login(fields.fields("login"), policy)
        KeyTable.learned.set(fields.fields("learned"), in: &sessions)
        judge(fields, sessions, policy)
        return sessions
    }

    private func login(_ fields: Fields?, _ policy: AuthorizationPolicy) -> SessionLogin {
        var login = KeyTable.sessionLogin.value(fields)
        login.realm = policy.server.realms.first ?? "/"
        login.answers = policy.answers
        guard let fields else { return login }
        login.realm = choice.realm(fields["realm"], of: policy.server, "login.realm") ?? login.realm
        if fields.has("answers") {
            login.answers = CallbackAnswerBuilder(findings: findings).answers(fields.list("answers"))
            if PersonBuilder(findings: findings).policy(fields, login.answers).isAsked
                || login.answers.contains(where: { $0.response == .ask })
            {
                findings.error(
                    fields.position(of: "answers") ?? fields.position,
                    "a login by Usher cannot ask a person; give the answer")
            }
        }
        return login
    }

    private func judge(_ fields: Fields, _ sessions: SessionPolicy, _ policy: AuthorizationPolicy) {
        let isKnown = !fields.hasFaulty("session")
        if let login = fields["login"], isKnown, sessions.source != .login {
            findings.warning(login.position, "login has no effect without session: login; add it")
        }
        let mayShow = policy.showsIDToken || fields.fields("present")?.hasFaulty("id_token") == true
        if let learned = fields["learned"], isKnown, sessions.source != .learned, !mayShow {
            findings.warning(
                learned.position,
                "learned has no effect without session: learned or present: { id_token: true }; add one")
        }
        if case .user = sessions.identity, !hasUsers {
            findings.error(
                fields.fields("learned")?.position(of: "by") ?? fields.position,
                "by: proxy_user requires clients with a user name; set clients.basic")
        }
        if policy.showsIDToken || sessions.source == .learned, !GlobReach(url: policy.server.url).isOpened(by: opened) {
            findings.warning(
                fields.position(of: "session") ?? fields.position(of: "present") ?? fields.position,
                "requests to \(policy.server.host) pass in tunnels that are not opened, so Usher sees no login; "
                    + "add the host to tls.intercept"
            )
        }
        guard sessions.source != .request else { return }
        for item in fields.list("resources") {
            guard let written = item.text.map({ _ in item }) ?? item.fields?["url"], let url = written.text,
                GlobReach(url: url).isFar
            else { continue }
            findings.error(
                written.position,
                "with session: \(sessions.source.rawValue), a session goes to every matching host; name the host, "
                    + "such as "
                    + "https://shop.example.com/*")
        }
    }

    static func identity(_ text: String) -> SessionPolicy.Identity? {
        switch text {
        case "client": return .client
        case "proxy_user": return .user
        case "address": return .address
        default:
            guard text.hasPrefix("header:") else { return nil }
            let name = String(text.dropFirst(7))
            return FieldSyntax.isName(name) ? .header(name) : nil
        }
    }
}
