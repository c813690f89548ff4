internal import Formats
internal import HTTPCodec

/// The front of AM: realms, versions and the rules that all REST endpoints share.
extension SandboxServer {
    private static let jsonEndpoints: Set<String> = ["authenticate", "sessions", "serverinfo", "policies", "push"]
    private static let oauthEndpoints: Set<String> = [
        "authorize", "access_token", "introspect", "token", "userinfo", "connect", ".well-known",
    ]

    /// Highest minor of each major version of an endpoint's resource.
    private static let versions: [String: [Int: Int]] = [
        "authenticate": [1: 2, 2: 1], "sessions": [1: 2, 2: 1, 3: 1, 4: 0, 5: 1], "serverinfo": [1: 1],
        "policies": [1: 0, 2: 1], "push": [1: 0],
    ]

    mutating func accessManager(
        _ request: SandboxRequest, _ rest: Substring, _ faults: Faults, _ now: Int
    ) -> SandboxResponse {
        let segments = rest.split(separator: "/").map { PercentCoding.decode($0) }
        switch segments.first {
        case "json":
            guard let route = RealmRoute(segments.dropFirst(), query: request.query, endpoints: Self.jsonEndpoints)
            else { return .fault(404, "Resource '\(request.head.path)' not found", note: "no such endpoint") }
            return json(request, route, faults, now)
        case "oauth2":
            guard let route = RealmRoute(segments.dropFirst(), query: request.query, endpoints: Self.oauthEndpoints),
                options.realms.contains(route.realm)
            else { return .fault(404, "Resource '\(request.head.path)' not found", note: "no such endpoint or realm") }
            return oauth(request, route, now)
        case nil, "XUI", "UI", "console":
            return signInPage(request)
        default:
            return .fault(404, "Resource '\(request.head.path)' not found", note: "no such page of AM")
        }
    }

    private mutating func json(
        _ request: SandboxRequest, _ route: RealmRoute, _ faults: Faults, _ now: Int
    ) -> SandboxResponse {
        let endpoint = route.rest[0]
        if let refusal = forgeryCheck(request) { return refusal }
        let version: ResourceVersion
        switch ResourceVersion.negotiate(request.head.fields["Accept-API-Version"], Self.versions[endpoint] ?? [:]) {
        case .success(let agreed): version = agreed
        case .failure(let fault): return .fault(fault.status, fault.message)
        }
        guard options.realms.contains(route.realm) else {
            return endpoint == "authenticate"
                ? loginFailure(400, "Invalid realm", errorCode: "108", version, note: "no such realm")
                : .fault(404, "Realm '\(route.realm)' not found", note: "no such realm")
        }
        var response =
            switch endpoint {
            case "authenticate": authenticate(request, realm: route.realm, version, faults, now)
            case "sessions": manageSessions(request, route, now)
            case "push": pushMessage(request, route, now)
            case "policies": evaluatePolicies(request, realm: route.realm, now)
            default: serverInfo(request, realm: route.realm)
            }
        response.fields += [
            ("Content-API-Version", "protocol=1.0,resource=\(version.major).\(version.minor)"),
            ("Cache-Control", "no-cache, no-store, must-revalidate"), ("Pragma", "no-cache"), ("Expires", "0"),
        ]
        return response
    }

    /// A call that changes something and carries the session as a cookie must carry a field that no form of a foreign
    /// page can add.
    private func forgeryCheck(_ request: SandboxRequest) -> SandboxResponse? {
        guard !request.reads, request.head.method != .options, request.cookie(options.cookieName) != nil,
            request.head.fields["X-Requested-With"] == nil, request.head.fields["Accept-API-Version"] == nil
        else { return nil }
        return .fault(
            403, "Forbidden", note: "session cookie without X-Requested-With or Accept-API-Version")
    }

    private func serverInfo(_ request: SandboxRequest, realm: String) -> SandboxResponse {
        guard request.reads else { return .methodNotAllowed("GET") }
        let info = JSONValue.record([
            "_id": .string("*"), "domains": .strings(options.cookieDomain.map { [$0] } ?? []),
            "cookieName": .string(options.cookieName), "secureCookie": .bool(false), "lang": .string("en-US"),
            "realm": .string(realm),
        ])
        return .json(200, info, note: "told about the server")
    }

    /// Where redirects to a sign-in end: a person is told how to go on.
    private func signInPage(_ request: SandboxRequest) -> SandboxResponse {
        guard request.reads else { return .methodNotAllowed("GET") }
        let page = """
            <!DOCTYPE html>
            <html lang="en"><title>Sign in</title>
            <p>The sandbox has no sign-in pages. Ask for a session over REST:</p>
            <pre>curl -X POST -H 'X-OpenAM-Username: demo' -H 'X-OpenAM-Password: changeit' \
            \(amURL(request).replacingHTML)/json/realms/root/authenticate</pre>
            </html>

            """
        return SandboxResponse(
            200, note: "the sign-in page", fields: [("Content-Type", "text/html; charset=utf-8")],
            body: .bytes(Array(page.utf8)))
    }
}

extension String {
    /// With the characters escaped that mean something in HTML text.
    fileprivate var replacingHTML: String {
        reduce(into: "") { out, character in
            switch character {
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "&": out += "&amp;"
            default: out.append(character)
            }
        }
    }
}

/// The version of a REST resource that a request and this server agree on.
struct ResourceVersion: Sendable {
    struct Fault: Error {
        var status: Int
        var message: String
    }

    var major: Int
    var minor: Int

    /// - Parameters:
    ///   - header: `Accept-API-Version`: `resource=2.1, protocol=1.0`, in any order. Nil: the newest is served.
    ///   - offered: the highest minor of each major. A lower minor of the same major is served by it.
    static func negotiate(_ header: String?, _ offered: [Int: Int]) -> Result<ResourceVersion, Fault> {
        var agreed = ResourceVersion(major: offered.keys.max() ?? 1, minor: 0)
        agreed.minor = offered[agreed.major] ?? 0
        guard let header else { return .success(agreed) }
        for item in header.filter({ $0 != " " }).split(separator: ",") {
            let halves = item.split(separator: "=")
            let numbers = halves.count == 2 ? halves[1].split(separator: ".").map { Int($0) } : []
            guard let major = numbers.first ?? nil, numbers.count <= 2, let minor = numbers.count == 2 ? numbers[1] : 0
            else { return .failure(Fault(status: 400, message: "Accept-API-Version: cannot parse '\(header)'")) }
            switch halves[0] {
            case "resource":
                guard let highest = offered[major], minor <= highest else {
                    let text = "Accept-API-Version: Requested version \"\(halves[1])\" does not match any routes."
                    return .failure(Fault(status: 404, message: text))
                }
                agreed = ResourceVersion(major: major, minor: highest)
            case "protocol":
                guard major == 1 else {
                    return .failure(Fault(status: 404, message: "Accept-API-Version: Unsupported protocol version"))
                }
            default:
                return .failure(Fault(status: 400, message: "Accept-API-Version: cannot parse '\(header)'"))
            }
        }
        return .success(agreed)
    }
}
