internal import Formats
public import HTTPCodec
internal import Interception

/// The user's session in a request (docs/protocol.md#the-session).
public struct SessionSource: Equatable, Sendable {
    /// The part of the request that contains it.
    public enum Carrier: Sendable {
        case cookie
        /// A field with the cookie's name.
        case header
        /// `subject.ssoToken` of a policy evaluation: the user in question, not the caller.
        case subject
        /// The request has none; Usher provides one.
        case provided
    }

    /// The token as received. It must never be logged.
    public var token: String
    public var carrier: Carrier
    /// The cookie that routes to the AM node with the session, if the request has one.
    public var affinity: String?

    public init(token: String, carrier: Carrier, affinity: String? = nil) {
        self.token = token
        self.carrier = carrier
        self.affinity = affinity
    }

    public static let affinityCookie = "amlbcookie"

    /// Finds the session of a request; nil if there is none, or none that a cookie can carry.
    /// - Parameter body: the whole body, read for a policy evaluation only.
    public static func find(in head: RequestHead, body: [UInt8]?, policy: AuthorizationPolicy) -> SessionSource? {
        let own = carried(by: head, named: policy.server.cookie)
        guard policy.isPolicyEvaluation(head), let body else { return own }
        // an unreadable question may be about another user than its caller
        guard let question = try? JSONValue(parsing: body), let members = question.members,
            members.count(where: { $0.name == "subject" }) <= 1
        else { return nil }
        guard let subject = question["subject"], subject != .null else { return own }
        // a subject of claims has no session to step up; the caller's session belongs to another identity
        guard let token = subject["ssoToken"]?.text, isUsable(token),
            subject.members?.count(where: { $0.name == "ssoToken" }) == 1
        else { return nil }
        let isCaller = own?.token == token
        return SessionSource(token: token, carrier: .subject, affinity: isCaller ? own?.affinity : nil)
    }

    /// The reason why a request has no session, as one sentence.
    public static func absence(in head: RequestHead, _ policy: AuthorizationPolicy) -> String {
        policy.isPolicyEvaluation(head)
            ? "the question names no session of its user (subject.ssoToken): claims, or another token, have none to step up"
            : "the request carries no session (cookie or header \(policy.server.cookie))"
    }

    /// True if readers may disagree about the session. Examples are different sessions, a value that servers truncate
    /// differently, or a name that only lenient readers accept. The server might use another session than Usher.
    public static func isAmbiguous(in head: RequestHead, named name: String) -> Bool {
        let lines = head.fields.values(named: "Cookie")
        let cookies = lines.flatMap { CookieText($0).values(named: name) }
        let told = cookies + head.fields.values(named: name)
        return Set(told.map { Array($0.utf8) }).count > 1 || !told.allSatisfy(isPlain)
            || lines.reduce(0) { $0 + mentions(of: name, in: $1) } != cookies.count
            || lines.contains { isMisread($0, as: name) }
    }

    /// True if some reader maps another cookie's name to this one, by decoding or as a variable name.
    private static func isMisread(_ line: String, as name: String) -> Bool {
        line.utf8.split(separator: 0x3B).contains { pair in
            let written = Array(pair.prefix { $0 != 0x3D }.drop { $0 == ASCII.space || $0 == ASCII.tab })
            guard !written.elementsEqual(name.utf8), !written.allSatisfy(isCommon) else { return false }
            return ReadParameter.names(of: written).contains { ASCII.equal(String(decoding: $0, as: UTF8.self), name) }
        }
    }

    private static func isCommon(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x5F
    }

    /// True if the value ends at the same byte for all readers (RFC 6265 §4.1.1).
    private static func isPlain(_ token: String) -> Bool {
        !token.isEmpty
            && token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x2C && $0 != 0x3B && $0 != 0x5C }
    }

    /// Counts where a lenient reader may see the cookie's name: in any case, between spaces, commas or bytes that some treat as
    /// white space.
    private static func mentions(of name: String, in line: String) -> Int {
        let (bytes, name) = (Array(line.utf8), Array(name.utf8))
        guard !name.isEmpty, bytes.count >= name.count else { return 0 }
        var count = 0
        for start in 0...(bytes.count - name.count) {
            if start > 0, bytes[start - 1] < 0x7F, ![0x20, 0x09, 0x22, 0x2C, 0x3B].contains(bytes[start - 1]) {
                continue
            }
            let found = bytes[start..<start + name.count]
            guard zip(found, name).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { continue }
            let next = bytes[(start + name.count)...].first { $0 > 0x20 && $0 < 0x7F }
            if next == nil || next == 0x3D || next == 0x2C || next == 0x3B { count += 1 }
        }
        return count
    }

    /// The token in the path `sessions/TOKEN`, as written and decoded.
    static func named(by head: RequestHead) -> [String] {
        let parts = head.path.split(separator: "/")
        guard parts.count > 1, parts[parts.count - 2] == "sessions", let last = parts.last else { return [] }
        return [String(last), PercentCoding.decode(last)]
    }

    /// The session in the cookie with this name, or in the field of the same name.
    public static func carried(by head: RequestHead, named name: String) -> SessionSource? {
        let lines = head.fields.values(named: "Cookie").map { CookieText($0) }
        let affinity = lines.compactMap { $0[affinityCookie] }.first(where: isUsable)
        if let token = lines.compactMap({ $0[name] }).first, isUsable(token) {
            return SessionSource(token: token, carrier: .cookie, affinity: affinity)
        }
        guard let token = head.fields[name], isUsable(token) else { return nil }
        return SessionSource(token: token, carrier: .header, affinity: affinity)
    }

    /// The limit of a stored token in bytes. Servers reject longer headers.
    static let longest = 16 << 10

    /// Whether both tokens are equal byte for byte.
    public func isSame(as token: String) -> Bool { self.token.utf8.elementsEqual(token.utf8) }

    /// Whether a text is a valid cookie value that ends neither the cookie nor the field.
    static func isUsable(_ token: String) -> Bool {
        !token.isEmpty && token.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x3B }
    }
}
