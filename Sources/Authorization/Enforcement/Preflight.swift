internal import Formats
internal import HTTPCodec
internal import Interception

/// A browser's question whether a page may send a request (Fetch, CORS-preflight fetch). It carries no session and shows
/// nothing of the resource. What has anything else with it than browsers send is a request like any other.
enum Preflight {
    private static let fields: Set = [
        "host", "origin", "access-control-request-method", "access-control-request-headers",
        "access-control-request-private-network", "access-control-request-local-network", "accept", "accept-encoding",
        "accept-language", "user-agent", "referer", "connection", "proxy-connection", "cache-control", "pragma",
        "priority", "dnt", "te",
        // what proxies before this one add, and what is for this one
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
