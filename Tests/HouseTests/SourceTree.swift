import Foundation

/// The project's own text files, as the house's checks read them.
struct SourceFile: Sendable {
    /// From the project's root.
    let path: String
    let lines: [String]

    /// The folder of `Sources` or `Tests` that it stands in.
    var room: String {
        let parts = path.split(separator: "/")
        return parts.count > 2 ? String(parts[1]) : ""
    }

    /// The code of a line, without its comment and without what its string literals say.
    static func code(_ line: String) -> String {
        line.replacing(/\/\/.*/, with: "").replacing(/"(\\.|[^"\\])*"/, with: "\"\"")
    }

    func at(_ index: Int) -> String { "\(path):\(index + 1): \(lines[index].trimmingCharacters(in: .whitespaces))" }

    /// Where a line's code matches, as `path:line: text`.
    func places(_ finds: (String) -> Bool) -> [String] {
        lines.indices.filter { finds(Self.code(lines[$0])) }.map(at)
    }
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
