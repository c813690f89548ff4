import Foundation

/// The project's own text files, as the house's checks read them.
struct SourceFile: Sendable {
    /// From the project's root.
    let path: String
    let lines: [String]
    /// Each line without its comment and without what its string literals say.
    let code: [String]

    init(path: String, lines: [String]) {
        self.path = path
        self.lines = lines
        code = lines.map(Self.code)
    }

    /// The module or the test target that it is a part of: a folder in a group of `Sources`, or one of `Tests`.
    var room: String {
        let parts = path.split(separator: "/")
        let depth = parts.first == "Sources" ? 2 : 1
        return parts.count > depth + 1 ? String(parts[depth]) : ""
    }

    private static func code(_ line: String) -> String {
        let code = line.has("//") ? line.replacing(/\/\/.*/, with: "") : line
        return code.has("\"") ? code.replacing(/"(\\.|[^"\\])*"/, with: "\"\"") : code
    }

    func at(_ index: Int) -> String { "\(path):\(index + 1): \(lines[index].trimmingCharacters(in: .whitespaces))" }

    /// Where a line's code matches, as `path:line: text`.
    /// - Parameter words: a line has one of them, or is not looked at: expressions are slow.
    func places(with words: String..., where finds: (String) -> Bool) -> [String] {
        lines.indices.filter { index in words.contains { code[index].has($0) } && finds(code[index]) }.map(at)
    }
}

extension String {
    /// Whether the text stands in it, byte for byte.
    func has(_ text: String) -> Bool { strstr(self, text) != nil }
}

enum SourceTree {
    /// The files of the root itself.
    static func top(_ extensions: Set<String>) -> [SourceFile] {
        let all = (try? FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: nil)) ?? []
        return all.filter { extensions.contains($0.pathExtension) }.compactMap { url in
            (try? String(contentsOf: url, encoding: .utf8)).map {
                SourceFile(path: url.lastPathComponent, lines: $0.components(separatedBy: "\n"))
            }
        }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every file under `folder` with one of the extensions; an empty extension is a file without one.
    static func files(_ folder: String, _ extensions: Set<String> = ["swift"]) -> [SourceFile] {
        let base = root.appending(path: folder)
        guard let walk = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil) else { return [] }
        return walk.compactMap { item -> SourceFile? in
            guard let url = item as? URL, extensions.contains(url.pathExtension), !url.path().contains("/.build"),
                let text = try? String(contentsOf: url, encoding: .utf8)
            else { return nil }
            let path = String(url.path().dropFirst(root.path().count)).trimmingPrefix("/")
            return SourceFile(path: String(path), lines: text.components(separatedBy: "\n"))
        }.sorted { $0.path < $1.path }
    }
}
