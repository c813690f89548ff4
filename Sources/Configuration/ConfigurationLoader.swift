internal import Declaration
internal import Glibc
internal import ProxyCore

/// Every fault and every warning of a configuration that does not stand.
public struct ConfigurationFaults: Error, Equatable, Sendable {
    /// In the order of the file; at least one is an error.
    public var diagnostics: [Diagnostic]
}

/// YAML → snapshot. All faults are found in one go; a file with one yields no snapshot.
public enum ConfigurationLoader {
    /// - Parameters:
    ///   - file: the file's path, for messages and as the start of relative paths.
    ///   - environment: what `${env.NAME}` and `CREDENTIALS_DIRECTORY` are taken from.
    ///   - now: seconds since 1970, by which certificates are judged; nil for the system's clock.
    ///   - readFile: reads the files that `${file:PATH}` and `${credential.NAME}` name, and those of certificates.
    public static func load(
        text: String, file: String, generation: Int = 1, environment: [String: String], now: Int? = nil,
        readFile: @escaping FileReading
    ) -> Result<Snapshot, ConfigurationFaults> {
        let findings = Findings(file: file)
        guard let root = YAMLReader.read(text, findings) else {
            if !findings.hasErrors {
                findings.error(.start, "the file is empty; begin it with version: 1")
            }
            return .failure(ConfigurationFaults(diagnostics: findings.diagnostics))
        }
        let folder = file.lastIndex(of: "/").map { file[..<$0].isEmpty ? "/" : String(file[..<$0]) } ?? ""
        let variables = ReadVariables()
        let secrets = Secrets(
            environment: environment, folder: folder, readFile: readFile, findings: findings, variables: variables)
        let walker = Walker(findings: findings, secrets: secrets)
        guard let fields = walker.object(root, .root, path: "") else {
            return .failure(ConfigurationFaults(diagnostics: findings.diagnostics))
        }
        let material = MaterialReader(findings: findings, secrets: secrets, now: now ?? time(nil))
        var snapshot = SnapshotBuilder(findings: findings, material: material).snapshot(
            fields, file: file, generation: generation)
        guard !findings.hasErrors else {
            return .failure(ConfigurationFaults(diagnostics: findings.diagnostics))
        }
        snapshot.settings.secrets = secrets.collector.texts
        snapshot.warnings = findings.diagnostics
        snapshot.variables = variables.names
        return .success(snapshot)
    }

    /// Loads a file of this machine.
    public static func load(
        path: String, generation: Int = 1, environment: [String: String]
    ) -> Result<Snapshot, ConfigurationFaults> {
        func failure(_ message: String, line: Int = 1) -> Result<Snapshot, ConfigurationFaults> {
            let fault = Diagnostic(.error, file: path, line: line, column: 1, message: message)
            return .failure(ConfigurationFaults(diagnostics: [fault]))
        }
        let content: FileContent
        do {
            content = try DiskFile.read(path, limit: YAMLReader.maxBytes)
        } catch .tooLarge {
            return failure(
                "the file is larger than \(Units.size(YAMLReader.maxBytes)); split off what is no configuration")
        } catch {
            return failure("the file \(error.explanation)")
        }
        guard let text = String(validating: content.bytes, as: UTF8.self) else {
            let line = validLines(content.bytes)
            return failure("the file is no UTF-8 text; save it as UTF-8", line: line)
        }
        return load(text: text, file: path, generation: generation, environment: environment, readFile: readFile)
    }

    private static func readFile(_ path: String) throws(FileFault) -> FileContent {
        try DiskFile.read(path, limit: MaterialReader.maxBytes)
    }

    /// The number of the first line that is no UTF-8.
    private static func validLines(_ bytes: [UInt8]) -> Int {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        return (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
    }
}
