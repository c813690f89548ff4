internal import Authorization
internal import Declaration
internal import HTTPCodec
internal import Interception

/// Warns of resources with `enforce: am` that leave out what many servers take for the same, or that an entry before them
/// takes away.
struct EnforcementAudit {
    let findings: Findings
    let policies: [AuthorizationPolicy]

    /// - Parameter entries: those of `authorization`.
    func look(at entries: [Decoded]) {
        for item in entries.flatMap({ $0.fields?.list("resources") ?? [] }) where item.fields?.text("enforce") == "am" {
            guard let written = item.fields?["url"], let url = written.text, let glob = Parts(url) else { continue }
            guard isEnforced(glob.sample(glob.path)) else {
                findings.warning(
                    written.position,
                    "an entry before this one covers it, so AM is asked about nothing there; move this one to the front"
                )
                continue
            }
            let missed = glob.siblings.filter { !isEnforced(glob.sample($0)) }
            guard !missed.isEmpty else { continue }
            findings.warning(
                written.position,
                "\(missed.joined(separator: " and ")) \(missed.count == 1 ? "goes" : "go") out without a decision of AM, and many servers take \(missed.count == 1 ? "it" : "them") for the same; write \(glob.wider)"
            )
        }
    }

    /// - Parameter url: true where it is none, for nothing can be told then.
    private func isEnforced(_ url: String) -> Bool {
        guard let head = try? RequestHead(method: "GET", url: url) else { return true }
        for policy in policies {
            if let found = policy.coverage(of: head) { return found.isEnforced }
        }
        return false
    }

    /// A glob over URLs, in its parts.
    private struct Parts {
        private let origin: String
        let path: String
        /// With its question mark.
        private let query: String

        /// Nil for one that names no origin.
        init?(_ url: String) {
            guard let mark = url.firstRange(of: "://") else { return nil }
            let end = url[mark.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
            origin = String(url[..<end])
            path = String(url[end...].prefix { $0 != "?" })
            query = String(url[end...].dropFirst(path.count))
        }

        /// A URL that fits where its path does.
        func sample(_ path: String) -> String {
            let scheme = origin.hasPrefix("http://") ? "http" : "https"
            let authority = origin[(origin.firstRange(of: "://")?.upperBound ?? origin.startIndex)...]
            let name = authority.hasSuffix(":*") ? "\(authority.dropLast())8443" : String(authority)
            return "\(scheme)://"
                + (name + path + query).split(separator: "*", omittingEmptySubsequences: false)
                .joined(separator: "x")
        }

        /// Paths that many servers take for its own.
        var siblings: [String] {
            if path.hasSuffix("*") {
                return path.hasSuffix("/*") && path.count > 2 ? [String(path.dropLast(2))] : []
            }
            let stem = path.hasSuffix("/") ? String(path.dropLast()) : path
            return stem.isEmpty ? [] : (path == stem ? ["\(stem)/"] : [stem]) + ["\(stem)%20"]
        }

        /// The glob that covers them.
        var wider: String {
            let stem = path.hasSuffix("/*") ? path.dropLast(2) : path.hasSuffix("/") ? path.dropLast() : path[...]
            return "\(origin)\(stem)*\(query)"
        }
    }
}
