internal import Formats
internal import HTTPCodec
internal import Interception

/// The link that AM sends to a user to continue a suspended tree.
struct SuspendedLink {
    let id: String

    /// The server and realm that the link has to lead to.
    struct Place: Equatable, Sendable {
        var server: AuthorizationServer
        var realm: String
    }

    /// The limit of a link in bytes.
    static let maxLength = 16 << 10

    /// Usher never requests the link itself. It sends the link's id to the configured AM, if the link leads there.
    /// - Throws: the reason for a refusal, worded for the person who gave the link.
    init(_ text: String, _ wanted: Place) throws(OpenStep.Refusal) {
        let (server, realm) = (wanted.server, wanted.realm)
        var link = text[...]
        while link.first?.isWhitespace == true { link.removeFirst() }
        while link.last?.isWhitespace == true { link.removeLast() }
        guard link.utf8.count <= Self.maxLength else {
            throw OpenStep.Refusal("a link has \(Self.maxLength >> 10) KiB at most")
        }
        // AM's pages have their parameters in the query or after a #
        let parts = link.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == 0x3F || $0 == 0x23 }
        guard let place = parts.first.flatMap({ try? RequestHead(method: "GET", url: String(Substring($0))) }) else {
            throw OpenStep.Refusal("this is not a link; a link begins with https://")
        }
        guard server.signsIn(at: place) else {
            throw OpenStep.Refusal(
                "the link leads to \(LogText.shown(place.originText + place.path)), which is neither \(server.url) nor one of its login_pages"
            )
        }
        let rest = parts.count > 1 ? String(Substring(parts[1])) : ""
        let queries = rest.split { $0 == "?" || $0 == "#" }.map { QueryText($0) }
        func value(_ name: String) -> String? { queries.lazy.compactMap { $0[name] }.first }
        guard let id = value("suspendedId"), !id.isEmpty else {
            throw OpenStep.Refusal("the link has no suspendedId; take the one that AM has sent")
        }
        if let named = value("realm") ?? Self.realm(inPath: place.path),
            server.configuredRealm(named) != server.configuredRealm(realm)
        {
            throw OpenStep.Refusal("the link is for realm \(LogText.shown(named)), and the tree runs in \(realm)")
        }
        self.id = id
    }

    /// The realm in a path such as `…/realms/root/realms/alpha/…`. A `realm` parameter takes precedence.
    private static func realm(inPath path: String) -> String? {
        let segments = PercentCoding.decode(path).split(separator: "/").drop { $0 != "realms" }
        guard !segments.isEmpty else { return nil }
        let names = zip(segments, segments.dropFirst()).enumerated().prefix {
            $0.offset % 2 == 1 || $0.element.0 == "realms"
        }
        return Realm.normalized(names.filter { $0.offset % 2 == 0 }.map { String($0.element.1) }.joined(separator: "/"))
    }
}
