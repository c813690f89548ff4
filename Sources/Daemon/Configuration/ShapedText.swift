public import Declaration
public import Formats

/// Reads documents of other shapes than the configuration's, in YAML or JSON.
public enum ShapedText {
    /// Reads a file of this machine.
    public static func load<Value>(
        path: String, _ shape: ObjectShape, environment: [String: String],
        _ build: (Fields, JSONValue, Findings) -> Value?
    ) -> Result<Value, ConfigurationFaults> {
        func fault(_ message: String) -> Result<Value, ConfigurationFaults> {
            .failure(
                ConfigurationFaults(diagnostics: [
                    Diagnostic(.error, file: path, line: 1, column: 1, message: message)
                ]))
        }
        do throws(FileFault) {
            let content = try DiskFile.read(path, limit: YAMLReader.maxBytes).bytes
            guard let text = String(validating: content, as: UTF8.self) else { return fault("the file is not UTF-8") }
            return read(ConfigurationSource(text: text, file: path), shape, environment: environment, build)
        } catch {
            return fault("the file \(error.explanation)")
        }
    }

    /// - Parameters:
    ///   - environment: the variables of `${env.NAME}`; no file is read.
    ///   - build: makes the value from the keys, and from the same document as JSON. It records faults as findings.
    public static func read<Value>(
        _ source: ConfigurationSource, _ shape: ObjectShape, environment: [String: String] = [:],
        _ build: (Fields, JSONValue, Findings) -> Value?
    ) -> Result<Value, ConfigurationFaults> {
        let findings = Findings(file: source.file)
        let secrets = Secrets(
            environment: environment, folders: [source.folder], readFile: { _ throws(FileFault) in throw .missing },
            findings: findings, variables: ReadVariables())
        var value: Value?
        if let root = YAMLReader.read(source.text, findings) {
            let walker = Walker(findings: findings, secrets: secrets)
            if let fields = walker.object(root, shape, path: "") {
                value = build(fields, walker.json(root, resolving: true), findings)
            }
        } else if !findings.hasErrors {
            findings.error(.start, "the document is empty; it takes \(shape.keys.map(\.name).joined(separator: ", "))")
        }
        guard let value, !findings.hasErrors else {
            return .failure(ConfigurationFaults(diagnostics: findings.diagnostics))
        }
        return .success(value)
    }
}
