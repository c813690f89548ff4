internal import HTTPCodec

/// Names of query parameters whose values may be read by whoever reads the log.
struct HarmlessNames: Sendable {
    /// Such as name a thing, an option or a number; none that identifies a person, a session or a transaction.
    private static let usual = [
        "_action", "_fields", "_pagedresultsoffset", "_pagesize", "_prettyprint", "_queryid", "_sortkeys",
        "_totalpagedresultspolicy", "acr_values", "authindextype", "client_id", "code_challenge_method", "count",
        "display", "forceauth", "format", "grant_type", "lang", "limit", "locale", "max_age", "nosession", "offset",
        "order", "page", "page_size", "pagesize", "per_page", "prompt", "realm", "redirect_uri", "response_mode",
        "response_type", "scope", "service", "size", "sort", "type", "ui_locales", "v", "version",
    ]

    /// By length, in lower case.
    private var names: [Int: [[UInt8]]] = [:]

    /// - Parameter more: `log.show`.
    init(_ more: [String]) {
        for name in Self.usual + more { names[name.utf8.count, default: []].append(name.utf8.map(ASCII.lower)) }
    }

    /// - Parameter name: as it stands in the URL.
    func contains(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        if name.contains(where: { $0 == 0x25 || $0 == 0x2B }) {
            return contains(plain: PercentCoding.decodeBytes(name, plusAsSpace: true))
        }
        return contains(plain: name)
    }

    private func contains(plain name: some Collection<UInt8>) -> Bool {
        guard let candidates = names[name.count] else { return false }
        return candidates.contains { candidate in zip(candidate, name).allSatisfy { $0 == ASCII.lower($1) } }
    }
}
