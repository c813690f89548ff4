internal import Authorization
internal import Declaration
internal import HTTPCodec

/// Warns of resources with `enforce: am` that omit paths which many servers treat as the same, or that an earlier entry covers.
struct EnforcementAudit {
    let findings: Findings
    let policies: [AuthorizationPolicy]

    /// - Parameter entries: the entries of `authorization`.
    func look(at entries: [Decoded]) {
        for item in entries.flatMap({ $0.fields?.list("resources") ?? [] }) where item.fields?.text("enforce") == "am" {
            guard let written = item.fields?["url"], let url = written.text, let glob = Parts(url) else { continue }
            guard isEnforced(glob.sample(glob.path)) else {
                findings.warning(
                    written.position,
                    "an earlier entry covers this URL, so Usher does not ask AM about it; move this entry to the front"
                )
                continue
            }
            let missed = glob.siblings.filter { !isEnforced(glob.sample($0)) }
            guard !missed.isEmpty else { continue }
            findings.warning(
                written.position,
                "\(missed.joined(separator: " and ")) \(missed.count == 1 ? "goes" : "go") out without a decision "
                    + "of AM, but many servers treat \(missed.count == 1 ? "it" : "them") as the same path; write "
                    + "\(glob.wider)"
            )
        }
    }

    /// - Parameter url: a URL to test. Text that is not a URL counts as enforced, because it cannot be judged.
    private func isEnforced(_ url: String) -> Bool {
        guard let head = try? RequestHead(method: "GET", url: url) else { return true }
        for policy in policies {
            if let found = policy.coverage(of: head) { return found.isEnforced }
        }
        return false
    }

    /// The parts of a glob over URLs.
    private struct Parts {
        private let origin: String
        let path: String
        /// Includes the question mark.
        private let query: String

        /// Nil if the glob names no origin.
        init?(_ url: String) {
            guard let mark = url.firstRange(of: "://") else { return nil }
            let end = url[mark.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
            origin = String(url[..<end])
            path = String(url[end...].prefix { $0 != "?" })
            query = String(url[end...].dropFirst(path.count))
        }

        /// An example of a URL that the glob matches if it matches the path.
        func sample(_ path: String) -> String {
            let scheme = origin.hasPrefix("http://") ? "http" : "https"
            let authority = origin[(origin.firstRange(of: "://")?.upperBound ?? origin.startIndex)...]
            let name = authority.hasSuffix(":*") ? "\(authority.dropLast())8443" : String(authority)
            return "\(scheme)://"
                + (name + path + query).split(separator: "*", omittingEmptySubsequences: false)
                .joined(separator: "x")
        }

        /// Paths that many servers treat as equal to this one.
        var siblings: [String] {
            if path.hasSuffix("*") {
                return path.hasSuffix("/*") && path.count > 2 ? [String(path.dropLast(2))] : []
            }
            let stem = path.hasSuffix("/") ? String(path.dropLast()) : path
            return stem.isEmpty ? [] : (path == stem ? ["\(stem)/"] : [stem]) + ["\(stem)%20"]
        }

        /// A glob that also covers the siblings.
        var wider: String {
            let stem = path.hasSuffix("/*") ? path.dropLast(2) : path.hasSuffix("/") ? path.dropLast() : path[...]
            return "\(origin)\(stem)*\(query)"
        }
    }
}
