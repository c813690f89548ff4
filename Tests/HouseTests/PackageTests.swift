import Foundation
import Testing

/// A build that has the other modules lying about finds what the package does not name, and the next clone does not.
struct PackageTests {
    private static let manifest =
        (try? String(contentsOf: SourceTree.root.appending(path: "Package.swift"), encoding: .utf8)) ?? ""

    /// What `module` or `tests` of the manifest says of each target: what it may import.
    private static let targets: [String: Set<String>] = {
        var found: [String: Set<String>] = [:]
        for match in manifest.matches(of: /\b(?:module|tests)\(\s*"(\w+)"(?:, in: "\w+")?\s*(?:,\s*\[([^\]]*)\])?/) {
            let names = (match.2 ?? "").matches(of: /"(\w+)"/).map { String($0.1) }
            found[String(match.1)] = Set(names)
        }
        return found
    }()

    @Test("The package names whatever a target imports of the project's own")
    func imports() {
        #expect(Self.targets.count > 25)
        let own = Set(Self.targets.keys)
        for file in SourceTree.files("Sources") + SourceTree.files("Tests") {
            guard let named = Self.targets[file.room] else { continue }
            for (index, line) in file.lines.enumerated() {
                guard let match = line.firstMatch(of: /^(?:[@a-z]+ )*import (?:[a-z]+ )?(\w+)/) else { continue }
                let name = String(match.1)
                guard own.contains(name) else { continue }
                #expect(named.contains(name), "\(file.at(index))")
            }
        }
    }
}
