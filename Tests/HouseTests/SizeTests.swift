import Testing

/// How large a type may become, with all its extensions: a reader keeps no more of it in mind.
@Suite struct SizeTests {
    private struct Size {
        var lines = 0
        var functions = 0
        var stored = 0
        var text: String { "\(lines) lines, \(functions) functions, \(stored) stored properties" }
    }

    private static let most = Size(lines: 600, functions: 50, stored: 15)
    /// Tables, and settings without behaviour.
    private static let exempt: Set<String> = [
        "Authorization.AuthorizationPolicy", "Authorization.TokenSettings", "Commands.SandboxSwitches",
        "Configuration.KeyTable", "Configuration.Snapshot", "Interception.ExchangeRecord", "Sandbox.SandboxOptions",
    ]
    /// Those that are still larger, and must not grow.
    private static let larger: [String: Size] = [
        "ProxyCore.ClientConnection": Size(lines: 693, functions: 49, stored: 3),
        "ProxyCore.HTTPConnection": Size(lines: 765, functions: 56, stored: 11),
    ]

    private static let kinds = ["struct", "class", "enum", "actor", "extension", "protocol"]

    /// The words of a declaration from its keyword on; nil for other lines, and for what is static.
    private static func declaration(_ code: String, _ keywords: [String]) -> [Substring]? {
        let words = code.split(separator: " ")
        for (place, word) in words.enumerated() {
            if keywords.contains(where: { word == $0 || word.hasPrefix($0 + "(") }) { return Array(words[place...]) }
            // modifiers and attributes stand before it
            guard let first = word.utf8.first, first == 0x40 || 0x61...0x7A ~= first, word != "static" else {
                return nil
            }
        }
        return nil
    }

    /// By room and name. What is nested in a type counts for its lines alone.
    private static func sizes() -> [String: Size] {
        var sizes: [String: Size] = [:]
        for file in HouseTests.sources {
            var type: String?
            for code in file.code {
                let indent = code.utf8.prefix { $0 == 0x20 }.count
                if indent == 0, let words = declaration(code, kinds), words.count > 1 {
                    type = "\(file.room).\(words[1].prefix { $0.isLetter || $0.isNumber || $0 == "." })"
                }
                guard let name = type else { continue }
                sizes[name, default: Size()].lines += 1
                if indent == 4 {
                    // what opens a block is computed
                    if declaration(code, ["var", "let"]) != nil {
                        if !code.has("{") || code.has("= {") { sizes[name]?.stored += 1 }
                    } else if declaration(code, ["func", "init", "subscript"]) != nil || code.has(" static func ") {
                        sizes[name]?.functions += 1
                    }
                }
                if indent == 0, code.utf8.last == 0x7D { type = nil }
            }
        }
        return sizes
    }

    @Test("No type is larger than a reader keeps in mind")
    func types() {
        let sizes = Self.sizes()
        for (name, size) in sizes where !Self.exempt.contains(name) {
            let most = Self.larger[name] ?? Self.most
            #expect(
                size.lines <= most.lines && size.functions <= most.functions && size.stored <= most.stored,
                "\(name) has \(size.text); it may have \(most.text)")
        }
        for (name, size) in sizes where Self.larger[name] != nil {
            #expect(
                size.lines > Self.most.lines || size.functions > Self.most.functions || size.stored > Self.most.stored,
                "\(name) is small enough by now: take it from the list")
        }
        for name in Self.exempt.union(Self.larger.keys) { #expect(sizes[name] != nil, "\(name) is gone") }
    }
}
