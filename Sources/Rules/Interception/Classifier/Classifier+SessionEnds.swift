internal import Formats
public import HTTPCodec

/// Recognises requests that may end a session at an authorization server, whatever their Action. A false positive costs cached
/// values; a false negative would use a session that has ended.
extension Classifier {
    public enum SessionEnd: Sendable {
        /// Ends the session that the request carries.
        case shown
        /// Ends a session that the request names in another way.
        case any
    }

    /// Nil for a request that ends no session under any reading of its path and query.
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
        // names of realms and users precede these segments
        let isREST = segments.contains("json") || segments.contains("oauth2")
        return (isREST ? segments.suffix(2) : segments[...]).contains(where: signsOut) ? .shown : nil
    }

    /// The sign-out pages and services of AM, SAML and OpenID Connect.
    private static func signsOut(_ segment: String) -> Bool {
        ASCII.contains(segment.utf8, "logout") || ASCII.contains(segment.utf8, "endsession")
            || ["idpslo", "spslo", "signoff"].contains { segment.hasPrefix($0) }
    }

    /// A request without `_action` in its query may have it in a form.
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
