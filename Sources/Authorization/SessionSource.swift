internal import Formats
public import HTTPCodec
internal import Interception

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

    /// A request does not name one session and no other in every way in which it may be read: sessions that differ, a value
    /// that servers cut short in different places, or the cookie's name where only lenient readers look for one. Who reads it
    /// may take another than is looked at here, or one where none is found here.
    public static func isAmbiguous(in head: RequestHead, named name: String) -> Bool {
        let lines = head.fields.values(named: "Cookie")
        let cookies = lines.flatMap { CookieText($0).values(named: name) }
        let told = cookies + head.fields.values(named: name)
        return Set(told.map { Array($0.utf8) }).count > 1 || !told.allSatisfy(isPlain)
            || lines.reduce(0) { $0 + mentions(of: name, in: $1) } != cookies.count
            || lines.contains { isMisread($0, as: name) }
    }

    /// A cookie whose name is another one is read as this by some: decoded, or as a variable is called.
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

    /// A value that ends for all readers where it ends here (RFC 6265 §4.1.1).
    private static func isPlain(_ token: String) -> Bool {
        !token.isEmpty
            && token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x2C && $0 != 0x3B && $0 != 0x5C }
    }

    /// How often a name stands where some reader may take it for a cookie's: behind a space, a comma or a letter that is white
    /// space to some, before such a one, in upper or lower case.
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

    /// The token that the path `sessions/TOKEN` names, as it stands there and as it reads.
    static func named(by head: RequestHead) -> [String] {
        let parts = head.path.split(separator: "/")
        guard parts.count > 1, parts[parts.count - 2] == "sessions", let last = parts.last else { return [] }
        return [String(last), PercentCoding.decode(last)]
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
