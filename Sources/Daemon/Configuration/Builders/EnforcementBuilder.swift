internal import Authorization
internal import Declaration

/// Builds the enforcement settings from `authorization.enforce` and the resources.
struct EnforcementBuilder {
    let findings: Findings
    let choice: ServerChoice

    /// - Parameter fields: the entry of `authorization`.
    /// - Returns: nil if AM enforces no resource.
    func enforcement(_ fields: Fields, _ policy: AuthorizationPolicy) -> Enforcement? {
        let section = fields.fields("enforce")
        guard policy.resources.contains(where: \.isEnforced) else {
            let isMeant = fields.list("resources").contains { $0.fields?.has("enforce") == true }
            if let section, !isMeant {
                findings.warning(section.position, "enforce has no effect: no resource has enforce: am")
            }
            return nil
        }
        var enforcement = KeyTable.enforcement.value(section)
        if section?.has("application") != true {
            findings.warning(
                section?.position ?? fields.position,
                "enforce names no application, so AM uses the policy set \(enforcement.application); write "
                    + "enforce: { application: … }"
            )
        }
        guard let section else { return enforcement }
        enforcement.realm = choice.realm(section["realm"], of: policy.server, "enforce.realm") ?? enforcement.realm
        if let agent = section.fields("as"), let caller = caller(agent) { enforcement.caller = caller }
        enforcement.environment = environment(section, tellsAddress: enforcement.tellsAddress)
        return enforcement
    }

    private func caller(_ fields: Fields) -> Enforcement.Caller? {
        if let written = fields["session"], let token = written.text {
            guard !fields.has("user"), !fields.has("password"), !fields.has("tree") else {
                findings.error(fields.position, "as takes a session, or a user with a password, not both")
                return nil
            }
            guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3B }) else {
                findings.error(written.position, "the session is empty, or has characters that a cookie cannot carry")
                return nil
            }
            return .session(token)
        }
        if let user = fields.text("user"), let password = fields.text("password"), !user.isEmpty, !password.isEmpty {
            return .login(AgentLogin(user: user, password: password, tree: fields.text("tree")))
        }
        let isTold = ["session", "user", "password"].contains(where: fields.hasFaulty)
        if !isTold { findings.error(fields.position, "as takes a session, or a user with a password") }
        return nil
    }

    private func environment(_ section: Fields, tellsAddress: Bool) -> [Enforcement.Variable] {
        (section.fields("environment")?.all ?? []).compactMap { field in
            if field.name == "TxId" || field.name == "IP" && tellsAddress {
                findings.error(
                    field.position,
                    field.name == "IP"
                        ? "address: true already sends IP"
                        : "TxId is reserved for the transaction id, which Usher sends itself")
                return nil
            }
            return Enforcement.Variable(field.name, field.value.list.compactMap(\.text))
        }
    }

    // MARK: resources

    /// - Parameters:
    ///   - fields: a resource.
    ///   - standard: the default of `translate`, from `authorization`.
    ///   - isOpened: true if Usher sees the resource's requests.
    func judge(
        _ resource: inout AuthorizationPolicy.Resource, _ fields: Fields?, standard: String?, isOpened: Bool,
        _ written: Decoded
    ) {
        let word = fields?.text("translate") ?? standard
        resource.translation = KeyTable.translations.first { $0.word == word }?.form
        if resource.isEnforced, !isOpened {
            findings.warning(
                written.position,
                "requests there pass in tunnels that are not opened, so Usher cannot ask AM and refuses them; add "
                    + "the host to tls.intercept"
            )
        }
    }
}
