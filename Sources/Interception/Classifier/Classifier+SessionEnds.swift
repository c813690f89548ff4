internal import Formats
public import HTTPCodec

/// Requests by which a session may end at an authorization server, whichever Action they are. Whoever keeps something for a
/// session would rather hear of an end too many than miss one.
extension Classifier {
    public enum SessionEnd: Sendable {
        /// Of the session that the request shows.
        case shown
        /// Of whichever the request means by something else.
        case any
    }

    /// Nil for a request that ends none, however its path and its query are read.
    public func sessionEnd(_ head: borrowing RequestHead) -> SessionEnd? {
        guard let host = host(head), head.method != .options else { return nil }
        let head = copy head
        let path = Array(head.fields.bytes[head.target.path.indices])
        var end: SessionEnd?
        let isRead = PathReading.all(of: path.isEmpty ? [0x2F] : path) { reading in
            for ending in reading.endings(of: path) where end != .any {
                end = Self.sessionEnd(Self.segments(ending), head, host) ?? end
            }
            return true
        }
        return isRead ? end : end ?? .shown
    }

    private static func sessionEnd(_ segments: [String], _ head: RequestHead, _ host: Host) -> SessionEnd? {
        let configured = host.configured.first { $0.0.map(ASCII.lowercased) == segments }?.1
        let isByToken = segments.count > 1 && segments[segments.count - 2] == "sessions"
        if configured == .sessions || segments.last == "sessions" || isByToken { return sessionEnd(byAction: head) }
        if configured == .endSession { return .shown }
        // the names of realms and users stand before
        let isREST = segments.contains("json") || segments.contains("oauth2")
        return (isREST ? segments.suffix(2) : segments[...]).contains(where: signsOut) ? .shown : nil
    }

    /// AM's own pages and services, those of SAML and OpenID Connect.
    private static func signsOut(_ segment: String) -> Bool {
        ["logout", "endsession"].contains { segment.contains($0) }
            || ["idpslo", "spslo", "signoff"].contains { segment.hasPrefix($0) }
    }

    /// What has no `_action` in its query may have it in a form.
    private static func sessionEnd(byAction head: RequestHead) -> SessionEnd? {
        let pairs = QueryText(head.query ?? "").pairs.filter { ASCII.equal(QueryText.name($0), "_action") }
        let ends = pairs.map { ASCII.lowercased(QueryText.value($0)) }.filter { $0.hasPrefix("logout") }
        if ends.isEmpty { return pairs.isEmpty && head.method != .get && head.method != .head ? .shown : nil }
        return ends.allSatisfy { $0 == "logout" } ? .shown : .any
    }

    private static func segments(_ path: [UInt8]) -> [String] {
        path.split(separator: 0x2F).map { String(decoding: $0.lazy.map(ASCII.lower), as: UTF8.self) }
    }
}
