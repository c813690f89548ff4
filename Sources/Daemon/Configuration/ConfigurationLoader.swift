internal import Declaration
internal import Glibc
internal import Interception
public import Interceptors
internal import Journal
internal import ProxyCore

/// All findings of an invalid configuration.
public struct ConfigurationFaults: Error, Equatable, Sendable {
    /// In file order. At least one is an error.
    public var diagnostics: [Diagnostic]
}

/// Loads a configuration from YAML. It reports all errors at once; a configuration with errors yields no snapshot.
public enum ConfigurationLoader {
    /// - Parameters:
    ///   - file: the file's path, for messages and as the base of relative paths.
    ///   - environment: the source of `${env.NAME}` and `CREDENTIALS_DIRECTORY`.
    ///   - now: the time for the validity of certificates, in seconds since 1970; nil for the system's clock.
    ///   - interceptors: the Swift interceptors that the program registers, by name.
    ///   - missing: the handling of references to missing secrets.
    ///   - readFile: reads the files of `${file:PATH}`, `${credential.NAME}` and certificates.
    public static func load(
        text: String, file: String, generation: Int = 1, environment: [String: String], now: Int? = nil,
        interceptors: [String: any Interceptor] = [:], missing: MissingSecrets = .refused,
        readFile: @escaping FileReading
    ) -> Result<Snapshot, ConfigurationFaults> {
        load(
            [ConfigurationSource(text: text, file: file)], generation: generation, environment: environment, now: now,
            interceptors: interceptors, missing: missing, readFile: readFile)
    }

    /// Loads a configuration of several files. Lists are joined in the order of the files.
    public static func load(
        _ sources: [ConfigurationSource], generation: Int = 1, environment: [String: String], now: Int? = nil,
        interceptors: [String: any Interceptor] = [:], missing: MissingSecrets = .refused,
        readFile: @escaping FileReading
    ) -> Result<Snapshot, ConfigurationFaults> {
        let findings = Findings(files: sources.map(\.file))
        let root = read(sources, findings)
        guard let root else { return .failure(ConfigurationFaults(diagnostics: findings.diagnostics)) }
        let variables = ReadVariables()
        let files = ReadFiles()
        let secrets = Secrets(
            environment: environment, folders: sources.map(\.folder), readFile: files.noting(readFile),
            findings: findings, variables: variables, missing: missing)
        let walker = Walker(findings: findings, secrets: secrets)
        guard let fields = walker.object(root, KeyTable.root, path: "") else {
            return .failure(ConfigurationFaults(diagnostics: findings.diagnostics))
        }
        let material = MaterialReader(findings: findings, secrets: secrets, now: now ?? time(nil))
        var snapshot = SnapshotBuilder(findings: findings, material: material, interceptors: interceptors).snapshot(
            fields, file: sources.map(\.file).joined(separator: ", "), generation: generation)
        guard !findings.hasErrors else {
            return .failure(ConfigurationFaults(diagnostics: findings.diagnostics))
        }
        snapshot.settings.disclosure.secrets =
            secrets.collector.texts + snapshot.settings.rules.compactMap(\.writtenSecret)
        snapshot.journal?.known = snapshot.settings.disclosure.secrets.map { Array($0.utf8) }
        snapshot.warnings = findings.diagnostics
        snapshot.variables = variables.names
        snapshot.outline = ConfigurationOutline(root)
        files.describe(in: &snapshot.outline)
        snapshot.document = EffectiveDocument(root, readAt: now ?? time(nil))
        return .success(snapshot)
    }

    /// Merges the files into one document; nil if there is none. Errors are recorded as findings.
    private static func read(_ sources: [ConfigurationSource], _ findings: Findings) -> YAMLNode? {
        var roots: [YAMLNode] = []
        var isReadable = true
        for (number, source) in sources.enumerated() {
            let own = Findings(file: source.file)
            let root = YAMLReader.read(source.text, own, file: number)
            findings.take(own, file: number)
            if let root { roots.append(root) } else if own.hasErrors { isReadable = false }
        }
        guard isReadable, let document = DocumentMerge(findings: findings).document(roots) else {
            if !findings.hasErrors {
                findings.error(.start, "the file is empty; start it with version: 1")
            }
            return nil
        }
        return document
    }

    /// Loads files and folders of this machine.
    public static func load(
        paths: [String], generation: Int = 1, environment: [String: String],
        interceptors: [String: any Interceptor] = [:], missing: MissingSecrets = .refused
    ) -> Result<Snapshot, ConfigurationFaults> {
        switch ConfigurationSource.read(paths) {
        case .success(let sources):
            load(
                sources, generation: generation, environment: environment, interceptors: interceptors,
                missing: missing, readFile: readFile)
        case .failure(let faults): .failure(faults)
        }
    }

    /// The value of `admin.socket`, even if the files have errors or secrets that the user may not read; nil if it is not set.
    public static func controlSocket(paths: [String]) -> String? {
        guard case .success(let sources) = ConfigurationSource.read(paths),
            let root = read(sources, Findings(files: sources.map(\.file))), let admin = root["admin"],
            case .scalar(let path, _)? = admin["socket"]?.content, !path.isEmpty, !path.contains("${")
        else { return nil }
        return path
    }

    private static func readFile(_ path: String) throws(FileFault) -> FileContent {
        try DiskFile.read(path, limit: MaterialReader.maxBytes)
    }
}
