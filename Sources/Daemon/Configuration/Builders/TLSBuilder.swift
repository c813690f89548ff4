internal import Declaration
internal import ProxyCore
internal import TLSEngine

/// Builds the TLS settings from `tls` and loads the files.
struct TLSBuilder {
    let findings: Findings
    let material: MaterialReader
    /// True if some listeners have invalid addresses.
    let listensElsewhere: Bool

    /// - Parameter listeners: with their positions in the file.
    func settings(_ section: Fields?, listeners: [(listener: Listener, position: Position)]) -> TLSSettings {
        var settings = KeyTable.tls.value(section)
        settings.interception = interception(section, settings.interception)
        settings.authority = authority(section?.fields("ca"))
        judge(settings, section, listeners)
        guard let section else { return settings }
        settings.origins = origins(section.fields("upstream"))
        settings.origins.identities = identities(section.list("client_certificates"))
        if let fields = section.fields("listener") {
            settings.listener = material.identity(fields)
            if !listensElsewhere, !listeners.contains(where: \.listener.isSecure) {
                findings.warning(
                    fields.position,
                    "this certificate is never used, because no address in listen begins with https://")
            }
        }
        return settings
    }

    // MARK: interception

    private func interception(_ section: Fields?, _ initial: InterceptionPolicy) -> InterceptionPolicy {
        var policy = initial
        guard let section else { return policy }
        let hosts = section.list("intercept")
        policy.hosts = hosts.compactMap(Self.pattern)
        // an excused entry may stand for any host
        if findings.isExcused(anyOf: hosts) { policy.hosts += [DestinationPattern("*")].compactMap { $0 } }
        guard !section.has("intercept") || section["intercept"]?.isEmptyList == true else { return policy }
        for field in section.all {
            let isMeant =
                field.name == "except"
                ? !field.value.isEmptyList : field.name == "on_refusal" && field.value.text == "tunnel"
            guard isMeant else { continue }
            findings.warning(
                field.position,
                "tls.\(field.name) has no effect without tls.intercept, which names the hosts to intercept")
        }
        return policy
    }

    private static func pattern(_ item: Decoded) -> DestinationPattern? { item.text.flatMap { DestinationPattern($0) } }

    // MARK: authority

    private func authority(_ fields: Fields?) -> AuthoritySettings {
        var authority = AuthoritySettings()
        guard let fields else { return authority }
        authority.certificate = fields.text("certificate")
        authority.key = fields["key"]?.secret
        if let written = fields["key"], case .material? = written.secret {
            _ = material.key(written)
        }
        guard let written = fields["constrain_to"] else { return authority }
        if written.isEmptyList {
            findings.error(
                written.position,
                "tls.ca.constrain_to is empty and permits no host; name domains, such as staging.example.com")
        } else if written.isWholeList {
            do throws(MaterialFault) {
                authority.constraints = try NameConstraints(written.list.compactMap(\.text))
            } catch {
                findings.error(written.position, "tls.ca.constrain_to \(error.words)")
            }
        }
        return authority
    }

    /// Checks intercepted hosts and the proxy's own names against the CA's name constraints.
    private func judge(
        _ settings: TLSSettings, _ section: Fields?, _ listeners: [(listener: Listener, position: Position)]
    ) {
        let hosts = section?.list("intercept") ?? []
        guard let constraints = settings.authority.constraints else {
            // an invalid value was reported already
            let isSilent = section?.fields("ca").map { !$0.has("constrain_to") } ?? (section?.has("ca") == false)
            if let section, isSilent, !hosts.isEmpty { warnOfUnboundAuthority(section, settings.interception.hosts) }
            return
        }
        let permitted = section?.fields("ca")?.list("constrain_to") ?? []
        for item in hosts where !findings.isExcused(anyOf: permitted) {
            guard let pattern = Self.pattern(item), !pattern.isPermitted(by: constraints) else { continue }
            let remedy = Self.advice(pattern).map { "add \($0) to it" } ?? "name its hosts one by one"
            findings.error(
                item.position,
                "tls.ca.constrain_to does not permit all of \"\(item.written)\", so every client refuses "
                    + "certificates for it; \(remedy), or remove it here"
            )
        }
        guard section?.has("listener") != true else { return }
        for (listener, position) in listeners
        where listener.isSecure && AddressGroup.loopback.contains(listener.address) {
            guard !["localhost", listener.host].contains(where: constraints.permits) else { continue }
            findings.warning(
                position,
                "tls.ca.constrain_to does not permit \(listener.host), so clients refuse the certificate of "
                    + "\(listener); add \(listener.host) to it, or name a certificate in tls.listener"
            )
        }
    }

    /// The entry to add to `constrain_to`; nil for a whole top-level domain, which is no good advice.
    private static func advice(_ pattern: DestinationPattern) -> String? {
        pattern.constraint.flatMap { !pattern.description.contains("*") || $0.contains(".") ? $0 : nil }
    }

    private func warnOfUnboundAuthority(_ section: Fields, _ hosts: [DestinationPattern]) {
        let needed = hosts.compactMap(Self.advice)
        let example =
            needed.count == hosts.count ? Array(Set(needed)).sorted().joined(separator: ", ") : "staging.example.com"
        let position = section.all.first { $0.name == "ca" }?.position ?? section["intercept"]?.position
        findings.warning(
            position ?? section.position,
            "tls.ca.constrain_to is missing, so whoever has the CA's key can impersonate every host; add ca: { "
                + "constrain_to: [\(example)] }"
        )
    }

    // MARK: origins

    private func origins(_ fields: Fields?) -> OriginSecurity {
        var origins = KeyTable.upstreamTLS.value(fields)
        guard let fields else { return origins }
        origins.extraTrust = fields.list("extra_trust").flatMap(material.roots)
        origins.revocationLists = fields.list("crl").flatMap(material.revocationLists)
        if fields.flag("verify") == false, let written = fields["verify"] {
            findings.error(
                written.position,
                "tls.upstream.verify cannot be false for all origins; set it for single hosts: hosts: [{ host: "
                    + "old.staging.example.com, verify: false }]"
            )
        }
        if !origins.usesSystemTrust, !fields.has("extra_trust") || fields["extra_trust"]?.isEmptyList == true,
            let written = fields["trust"]
        {
            findings.warning(
                written.position,
                "no root is trusted, so TLS to every origin fails; name roots in tls.upstream.extra_trust")
        }
        origins.rules = rules(fields.list("hosts"))
        return origins
    }

    private func rules(_ items: [Decoded]) -> [OriginSecurity.HostRule] {
        items.flatMap { item -> [OriginSecurity.HostRule] in
            guard let fields = item.fields else { return [] }
            if fields.written == ["host"] {
                findings.warning(item.position, "this entry has no effect; add verify, minimum or pins")
            }
            return hosts(fields).map { host, pattern in
                var rule = OriginSecurity.HostRule(host: pattern)
                rule.verifies = fields.flag("verify")
                rule.minimum = fields.text("minimum").flatMap(TLSVersion.init)
                rule.pins = fields.list("pins").compactMap { $0.text.flatMap(TextFormat.digest(ofPin:)) }
                if rule.verifies == false {
                    findings.warning(
                        host.position,
                        "the certificates of \"\(host.written)\" are not verified, so an attacker on the way can "
                            + "read and change everything; if its root is known, add it to extra_trust instead"
                    )
                }
                return rule
            }
        }
    }

    private func identities(_ items: [Decoded]) -> [OriginSecurity.ClientIdentity] {
        var earlier: [(pattern: DestinationPattern, place: Position)] = []
        return items.flatMap { item -> [OriginSecurity.ClientIdentity] in
            guard let fields = item.fields else { return [] }
            let hosts = hosts(fields)
            for (host, pattern) in hosts {
                if let first = earlier.first(where: { $0.pattern.covers(pattern) }) {
                    let place = findings.place(first.place, from: host.position)
                    findings.warning(
                        host.position,
                        "\"\(host.written)\" is never reached: \"\(first.pattern)\" of \(place) comes first")
                }
                earlier.append((pattern, host.position))
            }
            guard let identity = material.identity(fields) else { return [] }
            return hosts.map { OriginSecurity.ClientIdentity(host: $0.pattern, identity: identity) }
        }
    }

    private func hosts(_ fields: Fields) -> [(item: Decoded, pattern: DestinationPattern)] {
        if let written = fields["host"], written.isEmptyList {
            findings.error(written.position, "host takes at least one host or host glob")
        }
        return fields.list("host").compactMap { item in Self.pattern(item).map { (item, $0) } }
    }
}
