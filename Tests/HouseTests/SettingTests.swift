import Foundation
import Testing

/// What the configuration sets is read where it acts. (That every key sets something is tested with the loader.)
struct SettingTests {
    /// The files whose types are what a configuration becomes.
    private static let settings = [
        "Sources/Proxy/ProxyCore/Policy/Settings.swift", "Sources/Proxy/ProxyCore/Policy/OriginSecurity.swift",
        "Sources/Proxy/ProxyCore/Policy/InterceptionPolicy.swift", "Sources/AM/Authorization/AuthorizationPolicy.swift",
        "Sources/Rules/Interception/Classifier/AuthorizationServer.swift", "Sources/Rules/Interception/Plan/Rule.swift",
        "Sources/Daemon/Configuration/Snapshot.swift", "Sources/Daemon/Configuration/TLSSettings.swift",
    ]

    /// What each file of the sources reads.
    private static let uses = HouseTests.sources.map { file in
        let names = Set(file.code.flatMap(reads))
        return (path: file.path, isLoader: file.room == "Configuration", names: names)
    }

    @Test("Every setting is read outside the room that makes it", arguments: settings)
    func isRead(_ path: String) throws {
        let file = try #require(HouseTests.sources.first { $0.path == path })
        let declared = file.code.compactMap { line -> String? in
            let words = line.split { " :=".contains($0) }
            guard words.count > 2, words[0] == "public", words[1] == "var" || words[1] == "let" else { return nil }
            return String(words[2])
        }
        #expect(!declared.isEmpty)
        for name in Set(declared) {
            // types may read their own settings
            let isRead = Self.uses.contains { ($0.path == path || !$0.isLoader) && $0.names.contains(name) }
            #expect(isRead, "\(path): nobody reads \(name)")
        }
    }

    /// The names in a line of code that are no label, declare nothing and are assigned nothing.
    private static func reads(_ line: String) -> [String] {
        var names: [String] = []
        var rest = line.utf8[...]
        var last = ""
        while let start = rest.firstIndex(where: isPart) {
            rest = rest[start...]
            let name = String(Substring(rest.prefix(while: isPart)))
            rest = rest.dropFirst(name.utf8.count)
            let after = Substring(rest.drop { $0 == 0x20 })
            let isAssigned = after.hasPrefix("=") && !after.hasPrefix("==")
            if rest.first != 0x3A, !isAssigned, last != "var", last != "let" { names.append(name) }
            last = name
        }
        return names
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x5F
    }
}
