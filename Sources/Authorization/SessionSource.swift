internal import Formats
public import HTTPCodec
public import Interception

/// The user's session as a request carries it (docs/protocol.md#the-session).
public struct SessionSource: Equatable, Sendable {
    /// Where in the request it stands.
    public enum Carrier: Sendable {
        case cookie
        /// A field named like the cookie.
        case header
        /// `subject.ssoToken` of a policy evaluation: the user that the question is about, not its caller.
        case subject
        /// The request carries none; Usher shows one for it.
        case provided
    }

    /// The bytes as they came; never to be written to a log.
    public var token: String
    public var carrier: Carrier
    /// The cookie that leads to the AM node which knows the session, where the request has one.
    public var affinity: String?

    public init(token: String, carrier: Carrier, affinity: String? = nil) {
        self.token = token
        self.carrier = carrier
        self.affinity = affinity
    }

    public static let affinityCookie = "amlbcookie"

    /// Finds the session of a request; nil where it has none that a cookie could carry.
    /// - Parameter body: the whole body, looked at for a policy evaluation only.
    public static func find(in head: RequestHead, body: [UInt8]?, policy: AuthorizationPolicy) -> SessionSource? {
        let own = carried(by: head, named: policy.server.cookie)
        guard policy.isPolicyEvaluation(head), let body else { return own }
        // who is meant by a question that cannot be read is not for the caller's session to say
        guard let question = try? JSONValue(parsing: body), let members = question.members,
            members.count(where: { $0.name == "subject" }) <= 1
        else { return nil }
        guard let subject = question["subject"], subject != .null else { return own }
        // a subject of claims has no session to step up; the caller's would upgrade another identity
        guard let token = subject["ssoToken"]?.text, isUsable(token),
            subject.members?.count(where: { $0.name == "ssoToken" }) == 1
        else { return nil }
        let isCaller = own?.token == token
        return SessionSource(token: token, carrier: .subject, affinity: isCaller ? own?.affinity : nil)
    }

    /// Why no session was found in a request, one sentence.
    public static func absence(in head: RequestHead, _ policy: AuthorizationPolicy) -> String {
        policy.isPolicyEvaluation(head)
            ? "the question names no session of its user (subject.ssoToken): claims, or another token, have none to step up"
            : "the request carries no session (cookie or header \(policy.server.cookie))"
    }

    /// Sessions in a request that differ, though one alone can be meant. Who reads it may take another than is looked at here.
    public static func areSeveral(in head: RequestHead, named name: String) -> Bool {
        let cookies = head.fields.values(named: "Cookie").flatMap { CookieText($0).values(named: name) }
        return Set((cookies + head.fields.values(named: name)).map { Array($0.utf8) }).count > 1
    }

    /// Every session of this server's that a request names, wherever it may: which of them is meant does not matter.
    public static func tokens(in head: RequestHead, _ server: AuthorizationServer) -> [String] {
        let cookies = head.fields.values(named: "Cookie").flatMap { CookieText($0).values(named: server.cookie) }
        let query = QueryText(head.query ?? "").values(named: "tokenId")
        return (cookies + head.fields.values(named: server.cookie) + query).filter { !$0.isEmpty }
    }

    /// The session in the cookie of that name, or in the field that is named like it.
    public static func carried(by head: RequestHead, named name: String) -> SessionSource? {
        let lines = head.fields.values(named: "Cookie").map { CookieText($0) }
        let affinity = lines.compactMap { $0[affinityCookie] }.first(where: isUsable)
        if let token = lines.compactMap({ $0[name] }).first, isUsable(token) {
            return SessionSource(token: token, carrier: .cookie, affinity: affinity)
        }
        guard let token = head.fields[name], isUsable(token) else { return nil }
        return SessionSource(token: token, carrier: .header, affinity: affinity)
    }

    /// Longer ones that AM tells are not kept: no server would take them in a header.
    static let longest = 16 << 10

    /// The same session, byte for byte.
    public func isSame(as token: String) -> Bool { self.token.utf8.elementsEqual(token.utf8) }

    /// Whether a text can be a cookie's value as it stands: nothing that would end the cookie or the field.
    static func isUsable(_ token: String) -> Bool {
        !token.isEmpty && token.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x3B }
    }
}
