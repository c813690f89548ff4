internal import Formats
internal import HTTPCodec
internal import Interception

/// Detects a browser's CORS preflight (Fetch, CORS-preflight fetch). It carries no session and reveals nothing of the resource. A
/// request with any field that browsers do not send is no preflight.
enum Preflight {
    private static let fields: Set = [
        "host", "origin", "access-control-request-method", "access-control-request-headers",
        "access-control-request-private-network", "access-control-request-local-network", "accept", "accept-encoding",
        "accept-language", "user-agent", "referer", "connection", "proxy-connection", "cache-control", "pragma",
        "priority", "dnt", "te",
        // fields that other proxies add or that address this one
        "via", "proxy-authorization",
    ]
    private static let families = ["sec-fetch-", "sec-ch-", "sec-gpc"]

    static func isOne(_ head: RequestHead) -> Bool {
        guard head.method == .options, let origin = only("Origin", head),
            let asked = only("Access-Control-Request-Method", head)
        else { return false }
        return (origin == "null" || PageOrigins.normal(origin) != nil) && !asked.isEmpty
            && asked.utf8.allSatisfy(ASCII.isToken) && head.fields.lines.allSatisfy { isBrowsers($0.name, $0.value) }
            && !HiddenRequest.isMethodInQuery(of: head)
    }

    private static func only(_ name: String, _ head: RequestHead) -> String? {
        let values = head.fields.values(named: name)
        return values.count == 1 ? values[0] : nil
    }

    private static func isBrowsers(_ name: String, _ value: String) -> Bool {
        let name = ASCII.lowercased(name)
        if name == "te" { return value == "trailers" }
        return fields.contains(name) || families.contains { name.hasPrefix($0) }
    }
}
