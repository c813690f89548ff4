internal import Formats
internal import Glibc

/// The text of one file of a configuration.
public struct ConfigurationSource: Sendable {
    public var text: String
    /// The file's path, for messages and as the base of relative paths.
    public var file: String

    public init(text: String, file: String) {
        self.text = text
        self.file = file
    }

    /// The base folder of relative paths; empty for the current folder.
    var folder: String {
        guard let slash = file.lastIndex(of: "/") else { return "" }
        return file[..<slash].isEmpty ? "/" : String(file[..<slash])
    }
}

extension ConfigurationSource {
    /// The limits of one configuration: files, and their bytes together.
    static let maxFiles = 1_000
    static let maxBytes = 16 << 20

    /// Reads files and folders. A folder stands for its .yaml and .yml files in the order of their names.
    static func read(_ paths: [String]) -> Result<[ConfigurationSource], ConfigurationFaults> {
        var faults: [Diagnostic] = []
        func add(_ path: String, _ message: String, line: Int = 1) {
            faults.append(Diagnostic(.error, file: path, line: line, column: 1, message: message))
        }
        var files: [String] = []
        for path in paths {
            guard DiskFile.isFolder(path) else {
                files.append(path)
                continue
            }
            do throws(FileFault) {
                let found = try DiskFile.names(in: path).filter { isConfiguration($0) }.sorted {
                    $0.utf8.lexicographicallyPrecedes($1.utf8)
                }
                if found.isEmpty { add(path, "the folder has no .yaml or .yml file") }
                files += found.map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
            } catch {
                add(path, "the folder \(error.explanation)")
            }
        }
        if files.count > maxFiles { add(files[maxFiles], "there are more than \(maxFiles) files; merge some of them") }
        var sources: [ConfigurationSource] = []
        var bytes = 0
        for file in files.prefix(maxFiles) {
            do throws(FileFault) {
                let content = try DiskFile.read(file, limit: YAMLReader.maxBytes).bytes
                bytes += content.count
                guard bytes <= maxBytes else {
                    add(file, "the files are larger than \(Units.size(maxBytes)), this one included")
                    break
                }
                if let text = String(validating: content, as: UTF8.self) {
                    sources.append(ConfigurationSource(text: text, file: file))
                } else {
                    add(file, "the file is not UTF-8 text; save it as UTF-8", line: validLines(content))
                }
            } catch .tooLarge {
                let most = Units.size(YAMLReader.maxBytes)
                add(file, "the file is larger than \(most); remove what is not configuration")
            } catch {
                add(file, "the file \(error.explanation)")
            }
        }
        return faults.isEmpty ? .success(sources) : .failure(ConfigurationFaults(diagnostics: faults))
    }

    private static func isConfiguration(_ name: String) -> Bool {
        !name.hasPrefix(".") && (name.hasSuffix(".yaml") || name.hasSuffix(".yml"))
    }

    /// The number of the first line that is not UTF-8.
    private static func validLines(_ bytes: [UInt8]) -> Int {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        return (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
    }
}
