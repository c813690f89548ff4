internal import Declaration
internal import Glibc
internal import Interception
public import Interceptors
internal import Journal
internal import ProxyCore

/// Every fault and every warning of a configuration that does not stand.
public struct ConfigurationFaults: Error, Equatable, Sendable {
    /// In the order of the file; at least one is an error.
    public var diagnostics: [Diagnostic]
}

/// YAML → snapshot. All faults are found in one go; files with one yield no snapshot.
public enum ConfigurationLoader {
    /// - Parameters:
    ///   - file: the file's path, for messages and as the start of relative paths.
    ///   - environment: what `${env.NAME}` and `CREDENTIALS_DIRECTORY` are taken from.
    ///   - now: seconds since 1970, by which certificates are judged; nil for the system's clock.
    ///   - interceptors: what the program registers, by name.
    ///   - missing: what becomes of references whose secrets are not there.
    ///   - readFile: reads the files that `${file:PATH}` and `${credential.NAME}` name, and those of certificates.
    public static func load(
        text: String, file: String, generation: Int = 1, environment: [String: String], now: Int? = nil,
        interceptors: [String: any Interceptor] = [:], missing: MissingSecrets = .refused,
        readFile: @escaping FileReading
    ) -> Result<Snapshot, ConfigurationFaults> {
        load(
            [ConfigurationSource(text: text, file: file)], generation: generation, environment: environment, now: now,
            interceptors: interceptors, missing: missing, readFile: readFile)
    }

    /// Loads a configuration that is spread over several files: lists are joined in the order of the files.
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
        guard let fields = walker.object(root, .root, path: "") else {
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

    /// The document that the files are together; nil where there is none, which has been reported then.
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
                findings.error(.start, "the file is empty; begin it with version: 1")
            }
            return nil
        }
        return document
    }

    /// Loads files of this machine, and those in folders of it.
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

    /// What `admin.socket` says in files that may have faults, or hold what whoever asks may not read; nil where it says nothing.
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
