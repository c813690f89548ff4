internal import Authorization
internal import Declaration
internal import Formats
internal import Interception
internal import ProxyCore

/// Builds the authorization policies from `authorization`.
struct AuthorizationBuilder {
    let findings: Findings
    let choice: ServerChoice
    /// The hosts that are decrypted.
    let opened: InterceptionPolicy
    /// True if clients authenticate with user names and passwords.
    let hasUsers: Bool

    func policies(_ section: Fields.Field?) -> [AuthorizationPolicy] {
        guard let section else { return [] }
        let entries = section.value.list
        var covered: Set<String> = []
        let policies = entries.compactMap { entry -> AuthorizationPolicy? in
            let position = entries.count == 1 ? section.position : entry.position
            guard let fields = entry.fields, let policy = policy(fields, at: position) else { return nil }
            for resource in policy.resources where covered.contains(resource.url) {
                findings.warning(
                    entry.position,
                    "\(resource.url) is already covered by an earlier entry, which takes precedence")
            }
            covered.formUnion(policy.resources.map(\.url))
            return policy
        }
        if policies.count == entries.count {
            EnforcementAudit(findings: findings, policies: policies).look(at: entries)
        }
        return policies
    }

    private func policy(_ fields: Fields, at position: Position) -> AuthorizationPolicy? {
        let resources = resources(fields)
        let answers = CallbackAnswerBuilder(findings: findings).answers(fields.list("answers"))
        let person = PersonBuilder(findings: findings).policy(fields, answers)
        guard let server = choice.server(fields, "authorization", position) else { return nil }
        judgePresentations(fields, server)
        var policy = AuthorizationPolicy(resources: resources, server: server)
        policy.answers = answers
        policy.person = person
        policy.enforcement = EnforcementBuilder(findings: findings, choice: choice).enforcement(fields, policy)
        KeyTable.policy.set(fields, in: &policy)
        KeyTable.present.set(fields.fields("present"), in: &policy)
        KeyTable.stepUpLimits.set(fields.fields("limits"), in: &policy)
        KeyTable.lockout.set(fields.fields("lockout"), in: &policy.lockout)
        KeyTable.rounds.set(fields.fields("rounds"), in: &policy)
        policy.origins = fields.pageOrigins
        policy.sessions = SessionBuilder(findings: findings, choice: choice, opened: opened, hasUsers: hasUsers)
            .sessions(
                fields, policy)
        return policy
    }

    // MARK: resources

    private func resources(_ fields: Fields) -> [AuthorizationPolicy.Resource] {
        let items = fields.list("resources")
        if !fields.has("resources") || fields["resources"]?.isEmptyList == true {
            findings.warning(fields.position, "authorization covers no resource; list URLs under resources")
        }
        return items.compactMap { item in
            guard let written = item.text.map({ _ in item }) ?? item.fields?["url"], let url = written.text else {
                return nil
            }
            var resource = AuthorizationPolicy.Resource(url: url)
            KeyTable.resource.set(item.fields, in: &resource)
            judge(url, written, isEnforced: resource.isEnforced)
            if let advice = item.fields?["advice"], advice.isEmptyList {
                findings.error(
                    advice.position, "advice takes at least one form; to ignore advice, remove the resource")
            }
            EnforcementBuilder(findings: findings, choice: choice).judge(
                &resource, item.fields, standard: fields.text("translate"),
                isOpened: GlobReach(url: url).isOpened(by: opened), written)
            return resource
        }
    }

    /// Refuses a presentation in the session's header: the session may be sent there, and the id would replace it.
    private func judgePresentations(_ fields: Fields, _ server: AuthorizationServer) {
        let own = fields.list("resources").map { $0.fields?["present"] }
        let shared = fields.fields("present")?.all.map(\.value) ?? []
        for case let written? in own + shared {
            guard case .header(let name) = written.presentation, ASCII.equal(name, server.cookie) else {
                continue
            }
            findings.error(
                written.position,
                "the header \(name) carries the session; choose another name for the transaction id")
        }
    }

    private func judge(_ url: String, _ written: Decoded, isEnforced: Bool) {
        if GlobReach(url: url).isFar {
            findings.warning(
                written.position,
                "this covers every matching host, whoever runs it; name the host, such as https://shop.example.com/*")
        }
        if !isEnforced, !GlobReach(url: url).isOpened(by: opened) {
            findings.warning(
                written.position,
                "requests there pass in tunnels that are not opened, so Usher recognises nothing; add the host to "
                    + "tls.intercept"
            )
        }
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        if parts.count == 3, parts[0].hasSuffix(":"), parts[1].isEmpty, !parts[2].contains("/"),
            !parts[2].hasSuffix("*")
        {
            findings.warning(written.position, "this covers only the host's root; write \(url)/* for all of it")
        }
    }
}

extension Decoded {
    var presentation: AuthorizationPolicy.Presentation? {
        guard let text, let colon = text.firstIndex(of: ":") else { return nil }
        let name = String(text[text.index(after: colon)...])
        return text.hasPrefix("query") ? .query(name) : .header(name)
    }

    /// The destination patterns of a list.
    var patterns: [DestinationPattern] { list.compactMap { $0.text.flatMap { DestinationPattern($0) } } }
}
