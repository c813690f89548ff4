internal import Addresses
internal import Authorization
internal import Declaration
internal import HTTPCodec
internal import Interception
internal import ProxyCore

/// Builds `guard` and `environments`, and finds what they would never let happen.
struct EnvironmentBuilder {
    let findings: Findings

    // MARK: guard

    /// - Parameter servers: the AM servers, which have to be reached.
    func safeguard(_ root: Fields, servers: [AuthorizationServer]) -> DestinationPolicy? {
        guard let fields = root.fields("guard") else { return nil }
        var policy = KeyTable.safeguard.value(fields)
        policy.section = .guard
        if let only = fields["only"], only.isEmptyList {
            findings.error(only.position, "guard.only takes at least one host; remove the key to permit every host")
        }
        guard fields.has("only") || fields.has("never") else {
            findings.warning(fields.position, "this has no effect; add only: [HOST] or never: [HOST]")
            return nil
        }
        let passes = fields.text("unknown").map { $0 == "pass" } ?? !fields.has("only")
        if passes { policy.allow += DestinationPolicy.everywhere }
        for server in servers {
            guard let head = try? RequestHead(method: "GET", url: server.url) else { continue }
            let decision = policy.permits(host: head.host, port: head.target.port)
            guard !decision.isPermitted else { continue }
            findings.error(
                root.position(of: "am") ?? fields.position,
                "Usher may not reach \(server.url): \(decision.reason); add \(head.host) to guard.only")
        }
        return policy
    }

    // MARK: environments

    func environments(_ items: [Decoded]) -> Environments {
        var labels: [String: Position] = [:]
        var environments = Environments()
        for item in items {
            guard let fields = item.fields else { continue }
            var environment = KeyTable.environment.value(fields)
            if let hosts = fields["hosts"], hosts.isEmptyList {
                findings.error(hosts.position, "hosts takes at least one host or host glob")
            }
            for host in fields.list("hosts") {
                guard let text = host.text else { continue }
                let name = HostName.normalized(text)
                if let earlier = environments.environment(of: name) {
                    findings.warning(
                        host.position,
                        "\"\(host.written)\" is never reached: environment \(earlier.label) comes first and matches it")
                }
                environment.hosts.append(name)
            }
            if let label = fields["label"], let place = labels.updateValue(label.position, forKey: environment.label) {
                let other = findings.place(place, from: label.position)
                findings.error(
                    label.position, "the label \"\(label.written)\" is already in \(other); merge the two entries")
            }
            environments.entries.append(environment)
        }
        return environments
    }

    /// Finds interceptors that can apply only where their environment refuses them.
    func look(at rule: Rule, in fields: Fields, _ environments: Environments) {
        let hosts = rule.when.requiredHosts ?? ["*"]
        let refusals = hosts.compactMap { environments.refusal(of: rule.powers, atAllOf: $0) }
        guard !hosts.isEmpty, refusals.count == hosts.count, let refusal = refusals.first else { return }
        let place = fields.fields("when")?.position(of: "host") ?? fields.position
        findings.error(
            place, "\(refusal), and this interceptor can apply nowhere else; name other hosts in \"when\"")
    }

    /// Finds AM servers and resources whose environment refuses step-ups.
    func look(atSignIns settings: Settings, _ root: Fields) {
        let environments = settings.environments
        guard !environments.isEmpty else { return }
        let servers =
            settings.authorization.map { ("authorization", $0.server) }
            + (settings.tokens?.sources ?? []).map { ("tokens", $0.settings.server) }
            + settings.devices.map { ("devices", $0.server) }
        for (key, server) in servers {
            guard let refusal = environments.refusal(of: .stepUp, at: server.host) else { continue }
            findings.error(
                root.position(of: key) ?? root.position,
                "\(refusal), and Usher would sign in at \(server.url); use another AM")
        }
        let entries =
            (root.all.first { $0.name == "authorization" }?.value).map { $0.fields == nil ? $0.list : [$0] } ?? []
        for entry in entries + root.list("tokens") {
            for resource in entry.fields?.list("resources") ?? [] {
                guard let url = resource.fields?["url"] ?? (resource.text == nil ? nil : resource),
                    let host = url.text.flatMap({ GlobReach(url: $0).host }),
                    let refusal = environments.refusal(of: .stepUp, atAllOf: host)
                else { continue }
                findings.error(url.position, "\(refusal), and all of this resource is there; remove it")
            }
        }
    }
}
