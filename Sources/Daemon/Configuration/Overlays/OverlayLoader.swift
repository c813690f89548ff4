internal import Authorization
internal import Declaration
public import Expectations
internal import Glibc
public import Interception
public import Interceptors
internal import ProxyCore

/// Loads overlays of test sessions, and single interceptors for them. All errors are reported at once.
public struct OverlayLoader {
    private let base: Snapshot
    private let variables: [String: String]
    private let interceptors: [String: any Interceptor]

    /// - Parameters:
    ///   - base: the configuration that the overlay adds to.
    ///   - variables: the values of `${env.NAME}`. The daemon's own environment and files stay closed to overlays.
    ///   - interceptors: the Swift interceptors that the program registers, by name.
    public init(_ base: Snapshot, variables: [String: String] = [:], interceptors: [String: any Interceptor] = [:]) {
        self.base = base
        self.variables = variables
        self.interceptors = interceptors
    }

    /// - Parameter file: the overlay's name in messages.
    public func overlay(_ text: String, file: String) -> Result<Overlay, ConfigurationFaults> {
        read(text, file: file, KeyTable.overlay) { root, builder in
            var overlay = Overlay()
            let conditions = builder.conditions(reader(builder), defined: base.settings.actions.map(\.action.rawValue))
            let rules = builder.rules(
                [root.list("interceptors"), root.list("after")], conditions, base.settings.environments,
                hasServers: !base.settings.servers.isEmpty)
            (overlay.before, overlay.after) = (rules[0], rules[1])
            overlay.answers = CallbackAnswerBuilder(findings: builder.findings).answers(
                root.fields("authorization")?.list("answers") ?? [])
            if !overlay.answers.isEmpty, base.settings.authorization.isEmpty {
                builder.findings.warning(
                    root.position(of: "authorization") ?? root.position,
                    "these answers have no effect: the configuration has no authorization")
            }
            let choice = ServerChoice(findings: builder.findings, servers: base.settings.servers)
            overlay.tokens =
                TokenBuilder(
                    findings: builder.findings, choice: choice, tls: base.tls, hasUsers: base.settings.users != nil
                ).policy(root.list("tokens"))?.sources ?? []
            overlay.expectations = ExpectationBuilder(
                conditions: conditions, others: base.expectations, knowsServers: !base.settings.servers.isEmpty
            ).expectations(root.list("expect"))
            overlay.secrets =
                builder.material.secrets.collector.texts + (overlay.before + overlay.after).compactMap(\.writtenSecret)
            return overlay
        }.map { found in
            var overlay = found.0
            overlay.warnings = found.1
            return overlay
        }
    }

    /// A single interceptor, with the same keys as an entry of `interceptors`, and the values of its references.
    public func rule(_ text: String, file: String) -> Result<(Rule, secrets: [String]), ConfigurationFaults> {
        read(text, file: file, KeyTable.interceptor) { fields, builder in
            let conditions = builder.conditions(reader(builder), defined: base.settings.actions.map(\.action.rawValue))
            let item = Decoded(position: fields.position, written: "", content: .fields(fields))
            let rules = builder.rules(
                [[item]], conditions, base.settings.environments, hasServers: !base.settings.servers.isEmpty)[0]
            let secrets = builder.material.secrets.collector.texts + rules.compactMap(\.writtenSecret)
            return rules.first.map { ($0, secrets: secrets) }
        }.map(\.0)
    }

    /// Expectations, as an entry of `expect` or a list of entries.
    /// - Parameter others: expectations that `before` and `after` may name, too.
    public func expectations(
        _ text: String, file: String, beside others: [Expectation]
    ) -> Result<[Expectation], ConfigurationFaults> {
        ExpectationReader(actions: base.settings.actions.map(\.action.rawValue), beside: others)
            .expectations(in: text, file: file)
    }

    private func reader(_ builder: SnapshotBuilder) -> RuleReader {
        var reader = builder.reader
        reader.chain = base.settings.chain
        return reader
    }

    /// - Parameter build: nil without an error in the findings is impossible.
    private func read<Part>(
        _ text: String, file: String, _ shape: ObjectShape, _ build: (Fields, SnapshotBuilder) -> Part?
    ) -> Result<(Part, [Diagnostic]), ConfigurationFaults> {
        let findings = Findings(file: file)
        guard let root = YAMLReader.read(text, findings) else {
            if !findings.hasErrors { findings.error(.start, "there is nothing here; write keys with values") }
            return .failure(ConfigurationFaults(diagnostics: findings.diagnostics))
        }
        let secrets = Secrets(
            environment: variables, folders: [""], readFile: { _ throws(FileFault) in throw .closed },
            findings: findings, variables: ReadVariables())
        let material = MaterialReader(findings: findings, secrets: secrets, now: time(nil))
        let known = base.settings.rules.flatMap(\.scripts)
        let builder = SnapshotBuilder(
            findings: findings, material: material, interceptors: interceptors,
            scripts: ScriptShelf(known, isOpen: false))
        guard let fields = Walker(findings: findings, secrets: secrets).object(root, shape, path: ""),
            let part = build(fields, builder), !findings.hasErrors
        else { return .failure(ConfigurationFaults(diagnostics: findings.diagnostics)) }
        return .success((part, findings.diagnostics))
    }
}
