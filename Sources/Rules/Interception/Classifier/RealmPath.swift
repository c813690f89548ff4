/// Normalises the forms in which a URL names a realm (docs/protocol.md#where-am-listens) to a path, `/` for the root.
enum RealmPath {
    /// The realm named by the decoded segments between `json` or `oauth2` and the endpoint; nil if they name none.
    static func parse(_ segments: ArraySlice<String>) -> String? {
        guard let first = segments.first else { return "/" }
        guard segments.allSatisfy({ !$0.isEmpty }) else { return nil }
        guard first == "realms" else {
            // the old form: the names alone
            guard !segments.contains("realms") else { return nil }
            return path(segments.flatMap(names))
        }
        var found: [String] = []
        for (offset, segment) in segments.enumerated() {
            if offset.isMultiple(of: 2) {
                guard segment == "realms" else { return nil }
            } else {
                // Android writes a realm option with slashes as one segment: realms/root%2Frealms%2Falpha
                let names = names(segment)
                guard !names.isEmpty else { return nil }
                found += names.enumerated().filter { !($0.offset % 2 == 1 && $0.element == "realms") }.map(\.element)
            }
        }
        guard segments.count.isMultiple(of: 2) else { return nil }
        return path(found.first == "root" ? Array(found.dropFirst()) : found)
    }

    /// The realm named by a `realm` query parameter; nil if it is empty.
    static func parse(parameter: String) -> String? {
        parameter.isEmpty ? nil : path(names(parameter))
    }

    private static func names(_ text: String) -> [String] {
        text.utf8.split(separator: 0x2F).map { String(Substring($0)) }
    }

    private static func path(_ names: [String]) -> String { "/" + names.joined(separator: "/") }
}
