import Configuration
import Foundation
import Testing

/// Loads a text with an environment and files that are given here.
func load(
    _ text: String, file: String = "usher.yaml", environment: [String: String] = [:],
    files: [String: FileContent] = [:], now: Int? = nil
) -> Result<Snapshot, ConfigurationFaults> {
    ConfigurationLoader.load(text: text, file: file, environment: environment, now: now) { path throws(FileFault) in
        guard let content = files[path] else { throw .missing }
        return content
    }
}

/// The snapshot of a text that must be without errors.
func snapshot(
    _ text: String, environment: [String: String] = [:], files: [String: FileContent] = [:], now: Int? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> Snapshot {
    switch load(text, environment: environment, files: files, now: now) {
    case .success(let snapshot): return snapshot
    case .failure(let faults):
        Issue.record("\(lines(faults))", sourceLocation: sourceLocation)
        throw faults
    }
}

/// The diagnostics of a text, warnings of a valid one included, one a line.
func diagnosis(
    _ text: String, file: String = "usher.yaml", environment: [String: String] = [:],
    files: [String: FileContent] = [:], now: Int? = nil
) -> String {
    switch load(text, file: file, environment: environment, files: files, now: now) {
    case .success(let snapshot): snapshot.warnings.map { "\($0)\n" }.joined()
    case .failure(let faults): lines(faults)
    }
}

func lines(_ faults: ConfigurationFaults) -> String { faults.diagnostics.map { "\($0)\n" }.joined() }

/// The folder of these tests.
let testFolder = URL(filePath: #filePath).deletingLastPathComponent()
