internal import HTTPCodec

/// The realm and endpoint in the path below `/json` or `/oauth2`.
///
/// The full form is `/realms/root` and any number of `/realms/<name>`. The older form names the realm by plain segments. Neither
/// means the root realm. The query parameter `realm` takes precedence. A path with `realms` but without `root` is invalid.
struct RealmRoute: Equatable, Sendable {
    /// A path such as `/` or `/alpha`. It is not checked against the existing realms.
    var realm: String
    /// The segments from the endpoint's name on.
    var rest: [String]

    init?(_ segments: ArraySlice<String>, query: QueryText, endpoints: Set<String>) {
        var names: [String] = []
        var index = segments.startIndex
        if segments.first == "realms" {
            guard segments.count > 1, segments[index + 1] == "root" else { return nil }
            index += 2
            while index + 1 < segments.endIndex, segments[index] == "realms" {
                names.append(segments[index + 1])
                index += 2
            }
        } else {
            while index < segments.endIndex, !endpoints.contains(segments[index]) {
                names.append(segments[index])
                index += 1
            }
        }
        rest = Array(segments[index...])
        guard let endpoint = rest.first, endpoints.contains(endpoint) else { return nil }
        realm = "/" + names.joined(separator: "/")
        if let named = query["realm"], !named.isEmpty { realm = named.hasPrefix("/") ? named : "/" + named }
    }

    /// The realm as a distinguished name, as in `authId` tokens.
    static func distinguishedName(_ realm: String) -> String {
        let parts = realm.split(separator: "/").reversed().map { "o=\($0)," }.joined()
        return parts + (parts.isEmpty ? "" : "ou=services,") + "dc=am,dc=sandbox"
    }

    /// The realm as path segments: `/realms/root/realms/alpha`.
    static func path(_ realm: String) -> String {
        "/realms/root" + realm.split(separator: "/").map { "/realms/\($0)" }.joined()
    }
}
