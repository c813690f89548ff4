internal import Authorization
internal import Declaration
internal import Expectations
internal import Interception
internal import Interceptors
internal import Journal
internal import ProxyCore
internal import Scripts
internal import TLSEngine

/// Builds the snapshot from checked keys, and checks relations between values.
struct SnapshotBuilder {
    let findings: Findings
    let material: MaterialReader
    /// The Swift interceptors that the program registers, by name.
    var interceptors: [String: any Interceptor] = [:]
    /// The scripts that interceptors may name.
    var scripts = ScriptShelf()

    /// A reader of rules with the files of this configuration.
    var reader: RuleReader {
        RuleReader(
            findings: findings, interceptors: interceptors, readFile: material.content, recording: material.recording,
            script: { scripts.line(material.placed($0, $2), $1, $2, findings) })
    }

    func snapshot(_ root: Fields, file: String, generation: Int) -> Snapshot {
        let defined = root.list("actions").compactMap { $0.fields?.text("name") }
        var reader = reader
        reader.chain = KeyTable.chain.value(root)
        let conditions = conditions(reader, defined: defined, definesOthers: definesOthers(root))
        var settings = Settings()
        let listeners = listeners(root)
        let listensElsewhere = root["listen"].map { !$0.isWholeList } ?? root.has("listen")
        let tls = TLSBuilder(findings: findings, material: material, listensElsewhere: listensElsewhere).settings(
            root.fields("tls"), listeners: listeners)
        settings.interception = tls.interception
        settings.interception.security = tls.origins
        let builder = ServerBuilder(findings: findings)
        settings.servers = builder.servers(
            root.list("am"), opened: root.list("interceptors").isEmpty ? nil : tls.interception)
        settings.actions = actions(root.list("actions"), conditions)
        settings.chain = reader.chain
        let places = EnvironmentBuilder(findings: findings)
        settings.environments = places.environments(root.list("environments"))
        settings.rules =
            rules(
                [root.list("interceptors")], conditions, settings.environments, hasServers: !isWithout("am", root))[0]
        tellOfUnused(settings.rules, root)
        let isWhole =
            !root.has("am") || root["am"]?.isWholeList == true && settings.servers.count == root.list("am").count
        let choice = ServerChoice(
            findings: findings, servers: isWhole ? settings.servers : nil,
            openRealms: builder.openRealms(root.list("am")))
        let hasUsers = root.fields("clients")?.has("basic") == true
        settings.authorization = AuthorizationBuilder(
            findings: findings, choice: choice, opened: tls.interception, hasUsers: hasUsers
        ).policies(root.all.first { $0.name == "authorization" })
        settings.tokens = TokenBuilder(findings: findings, choice: choice, tls: tls, hasUsers: hasUsers).policy(
            root.list("tokens"))
        settings.devices = DeviceBuilder(findings: findings, choice: choice, tls: tls).devices(root.list("devices"))
        for index in settings.authorization.indices {
            let server = settings.authorization[index].server
            settings.authorization[index].devices = settings.devices.filter { $0.server == server }
        }
        settings.routes = RouteBuilder(findings: findings).table(root.fields("destinations")?.list("via") ?? [])
        settings.limits = Self.limits(root.fields("limits"))
        settings.timeouts = KeyTable.timeouts.value(root.fields("timeouts"))
        let clients = ClientBuilder(findings: findings)
        settings.users = clients.users(root.fields("clients"))
        settings.disclosure.forwarded = root.text("forwarded").flatMap(ForwardedField.init) ?? .none
        settings.http2 = KeyTable.http2.value(root.fields("http2"))
        settings.disclosure.tellsProvenance = root.fields("log")?.text("access") == LogSettings.Access.combined.rawValue
        settings.disclosure.traceShare = root.fields("tracing").map { $0.text("sample").flatMap(Double.init) ?? 1 }
        settings.disclosure.parameters = root.fields("log")?.list("show").compactMap(\.text) ?? []
        settings.disclosure.secretNames = root.fields("journal")?.list("secrets").compactMap(\.text) ?? []
        let journal = JournalBuilder.settings(root.fields("journal"), settings, findings)
        settings.disclosure.capture = journal.map(JournalBuilder.capture)
        settings.routes.connectPorts = connectPorts(root.fields("destinations"))
        places.look(atSignIns: settings, root)
        var destinations = KeyTable.destinations.value(root.fields("destinations"))
        destinations.others = [places.safeguard(root, servers: settings.servers)].compactMap(\.self)
        return Snapshot(
            generation: generation, file: file, listeners: listeners.map(\.listener), workers: root.number("workers"),
            settings: settings, clients: clients.policy(root.fields("clients")),
            destinations: destinations, tls: tls,
            nameServers: Self.nameServers(root.fields("names")),
            log: KeyTable.log.value(root.fields("log")), journal: journal,
            expectations: ExpectationBuilder(conditions: conditions, knowsServers: !isWithout("am", root))
                .expectations(root.list("expect")),
            robots: RobotBuilder(findings: findings).robots(root.list("robots")),
            tracing: Self.tracing(root.fields("tracing")),
            controlSocket: root.fields("admin")?.text("socket"),
            controlGroup: root.fields("admin")?.text("group"),
            admin: AdminBuilder(findings: findings).port(root.fields("admin"), listeners: listeners.map(\.listener)),
            stateKey: stateKey(root.fields("state"), settings.tokens, journal, root.fields("journal")),
            warnings: [])
    }

    // MARK: interceptors and actions

    func conditions(_ reader: RuleReader, defined: [String], definesOthers: Bool = false) -> ConditionBuilder {
        ConditionBuilder(reader: reader, defined: defined, definesOthers: definesOthers)
    }

    /// - Parameters:
    ///   - lists: lists of interceptors, in the order in which they run. A name is unique in all of them.
    ///   - hasServers: whether requests may go to a known AM.
    func rules(
        _ lists: [[Decoded]], _ conditions: ConditionBuilder, _ environments: Environments, hasServers: Bool
    ) -> [[Rule]] {
        var places: [String: Position] = [:]
        let audit = RuleAudit(findings: findings, chain: conditions.reader.chain)
        let built = lists.map { self.built($0, conditions, environments, &places, audit, hasServers: hasServers) }
        audit.look(at: built.flatMap { $0 })
        return built.map { $0.map(\.0) }
    }

    private func built(
        _ items: [Decoded], _ conditions: ConditionBuilder, _ environments: Environments,
        _ places: inout [String: Position], _ audit: RuleAudit, hasServers: Bool
    ) -> [(Rule, Fields)] {
        var conditions = conditions
        return items.compactMap { item -> (Rule, Fields)? in
            guard let fields = item.fields else { return nil }
            conditions.reader.owner = "interceptor \(fields["name"]?.written ?? "")"
            let edits = EditBuilder(reader: conditions.reader)
            let condition = conditions.condition(fields.fields("when"))
            let request = edits.requestEdits(fields.list("request"))
            let response = edits.responseEdits(fields.list("response"))
            let error = edits.errorEdits(fields.list("error"))
            let builtIn = BuiltInBuilder(reader: conditions.reader).builtIn(of: fields, condition)
            if !BuiltInBuilder.isNamed(in: fields), Self.lists.allSatisfy({ isWithout($0, fields) }) {
                findings.warning(
                    item.position, "this interceptor has no effect; add edits to request, response or error")
            }
            audit.look(at: condition, in: fields)
            if !hasServers {
                audit.look(forServersIn: condition, of: fields, knowing: conditions.defined)
            }
            guard let name = fields["name"], let text = name.text else { return nil }
            if let place = places[text] {
                let other = findings.place(place, from: name.position)
                findings.error(
                    name.position, "the name \"\(name.written)\" is already used by the interceptor of \(other)")
                return nil
            }
            places[text] = name.position
            var rule = Rule(
                name: text, when: condition, request: request, response: response, error: error,
                bodies: KeyTable.bodies.value(fields), sampling: sampling(fields))
            rule.comesBeforeStepUp = fields.has("before")
            if let builtIn {
                rule.equip(with: builtIn)
                if let script = builtIn as? Script, script.refuses {
                    if !fields.has("over_limit") { rule.bodies.overLimit = .refuse }
                    if !fields.has("invalid_body") { rule.bodies.invalid = .refuse }
                }
                if condition.contradiction == nil { audit.look(forContradictionsIn: rule.when, of: fields) }
                if !hasServers, !condition.needsServer(knowing: conditions.defined) {
                    audit.look(forServersIn: rule.when, of: fields, knowing: conditions.defined)
                }
            }
            audit.look(at: rule, in: fields)
            EnvironmentBuilder(findings: findings).look(at: rule, in: fields, environments)
            for name in rule.unsetState where conditions.reader.chain.compatibility == .none {
                findings.warning(
                    item.position,
                    "this interceptor never sets ${state.\(name)}; set it with set_state",
                    nearest: Nearest.name(to: name, among: rule.setState))
            }
            return (rule, fields)
        }
    }

    static let lists = ["request", "response", "error"]

    /// Warns of registered interceptors that the configuration does not use.
    private func tellOfUnused(_ rules: [Rule], _ root: Fields) {
        let named = Set(rules.flatMap(\.registered))
        for name in interceptors.keys.sorted() where !named.contains(name) {
            findings.warning(
                root.position(of: "interceptors") ?? root.position,
                "\"\(name)\" is registered, but no interceptor runs it; add swift: \(name) to request or response"
            )
        }
    }

    private func sampling(_ fields: Fields) -> Sampling {
        if let position = fields.position(of: "seed"), !fields.has("percent") {
            findings.error(position, "seed has no effect without percent; add percent, or remove seed")
        }
        return KeyTable.sampling.value(fields)
    }

    /// True if a list is missing or empty; false if its value was invalid.
    private func isWithout(_ key: String, _ fields: Fields) -> Bool {
        !fields.has(key) || fields[key]?.isEmptyList == true
    }

    /// Whether the names of some own Actions are unknown here.
    private func definesOthers(_ root: Fields) -> Bool {
        findings.isExcused(anyOf: root.list("actions").compactMap { $0.fields?["name"] })
    }

    private func actions(_ items: [Decoded], _ conditions: ConditionBuilder) -> [ActionDefinition] {
        var conditions = conditions
        var places: [String: Position] = [:]
        return items.compactMap { item in
            guard let fields = item.fields else { return nil }
            conditions.reader.owner = "action \(fields["name"]?.written ?? "")"
            let condition = conditions.condition(fields.fields("when"))
            if fields.fields("when")?.written.isEmpty == true {
                findings.error(
                    fields.position(of: "when") ?? item.position,
                    "an Action without a condition matches every request; add conditions under \"when\"")
            }
            if condition.needsResponse || condition.needsError {
                findings.error(
                    fields.position(of: "when") ?? item.position,
                    "an Action depends only on the request; remove status, content_type, response_header, "
                        + "response_json and error from \"when\""
                )
            }
            if condition.contains(where: { $0 == .by }) {
                findings.error(
                    fields.position(of: "when") ?? item.position,
                    "an Action applies only to requests of apps; remove by from \"when\"")
            }
            if condition.asksBody {
                findings.error(
                    fields.position(of: "when") ?? item.position,
                    "an Action is determined before the body arrives; remove json and form from \"when\"")
            }
            RuleAudit(findings: findings).look(forContradictionsIn: condition, of: fields)
            guard let name = fields["name"], let text = name.text else { return nil }
            if Action.known.contains(Action(named: text)) {
                findings.error(name.position, "\"\(name.written)\" is a built-in Action; choose another name")
                return nil
            }
            if let place = places[text] {
                let other = findings.place(place, from: name.position)
                findings.error(
                    name.position, "the Action \"\(name.written)\" is already in \(other); merge the two with any")
                return nil
            }
            places[text] = name.position
            return ActionDefinition(action: Action(rawValue: text), when: condition)
        }
    }

    // MARK: state

    private func stateKey(
        _ fields: Fields?, _ tokens: TokenPolicy?, _ journal: JournalStore.Settings?, _ asked: Fields?
    ) -> SecretBytes? {
        let reveals = journal?.reveals == true
        if reveals, fields?.has("key") != true, let place = asked?.position(of: "reveal") {
            findings.error(
                place,
                "journal.reveal requires state.key, which seals the secrets; add state: { key: "
                    + "\"${credential.usher-state}\" }"
            )
        }
        guard let fields, let written = fields["key"], case .material(let key)? = written.secret else { return nil }
        if key.count < TokenVault.leastKey {
            findings.error(
                written.position,
                "state.key takes \(TokenVault.leastKey) bytes or more, found \(key.count); openssl rand -base64 32 "
                    + "makes one"
            )
        } else if !reveals, tokens?.sources.contains(where: { $0.settings.keeping == .sealed }) != true {
            findings.warning(
                written.position,
                "state.key has no effect; add keep: sealed to an entry of tokens, or journal: { reveal: true }"
            )
        }
        return key
    }

    // MARK: addresses

    private func listeners(_ root: Fields) -> [(listener: Listener, position: Position)] {
        guard root.has("listen") else { return Snapshot.defaultListeners.map { ($0, root.position) } }
        let items = root.list("listen")
        if let written = root["listen"], written.isEmptyList {
            findings.error(written.position, "listen takes at least one address; remove the key for the default")
        }
        var places: [Listener: Position] = [:]
        return items.compactMap { item in
            guard let listener = item.text.flatMap({ Listener($0) }) else { return nil }
            let plain = Listener(address: listener.address, port: listener.port)
            // two entries with port 0 are two listeners
            if let place = places[plain], listener.port != 0 {
                let other = findings.place(place, from: item.position)
                findings.error(item.position, "\(plain) is already in \(other); remove one")
                return nil
            }
            places[plain] = item.position
            return (listener, item.position)
        }
    }

    private func connectPorts(_ fields: Fields?) -> [UInt16]? {
        guard let fields, fields.has("connect_ports") else { return nil }
        if let written = fields["connect_ports"], written.isEmptyList {
            findings.error(
                written.position,
                "destinations.connect_ports is empty and permits no CONNECT; name ports or remove the key")
        }
        return fields.list("connect_ports").compactMap { $0.number.flatMap(UInt16.init(exactly:)) }
    }

    // MARK: numbers

    private static func limits(_ fields: Fields?) -> Limits {
        var limits = KeyTable.limits.value(fields)
        if fields?.number("per_client") == nil { limits.perClient = Limits.share(of: limits.connections) }
        return limits
    }

    private static func nameServers(_ fields: Fields?) -> [String] {
        (fields?.list("servers") ?? []).compactMap { $0.text.flatMap(NameServer.init)?.description }
    }

    private static func tracing(_ fields: Fields?) -> TracingSettings? {
        fields?.text("endpoint").map { _ in KeyTable.tracing.value(fields) }
    }
}
