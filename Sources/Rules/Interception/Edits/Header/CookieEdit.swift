internal import HTTPCodec

/// A cookie to send. In the request phase, domain, path and secure decide whether it is sent (RFC 6265 §5.4). Max-age, expires
/// and same-site apply to responses only.
public struct CookieEdit: Equatable, Sendable {
    public var name: String
    public var value: String
    public var domain: String?
    public var path: String?
    public var secure: Bool
    public var httpOnly: Bool
    /// In seconds.
    public var maxAge: Int?
    /// An HTTP date.
    public var expires: String?
    public var sameSite: SameSite?

    public enum SameSite: String, CaseIterable, Sendable {
        case strict = "Strict"
        case lax = "Lax"
        case unrestricted = "None"
    }

    public init(
        name: String, value: String, domain: String? = nil, path: String? = nil, secure: Bool = false,
        httpOnly: Bool = false, maxAge: Int? = nil, expires: String? = nil, sameSite: SameSite? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.path = path
        self.secure = secure
        self.httpOnly = httpOnly
        self.maxAge = maxAge
        self.expires = expires
        self.sameSite = sameSite
    }

    func check() throws(EditFault) {
        guard FieldSyntax.isName(name) else {
            throw EditFault(reason: "a cookie name is empty, or has an invalid character")
        }
        for part in [value, domain ?? "", path ?? "", expires ?? ""] {
            // a semicolon would begin another cookie or attribute
            guard FieldSyntax.isValue(part), !part.utf8.contains(0x3B) else {
                throw EditFault(reason: "cookie \(name) has a control character or a semicolon")
            }
        }
    }

    /// The reason why cookie stores reject this cookie, with a remedy; nil if they accept it. Completes "a cookie …".
    var refusal: String? {
        if sameSite == .unrestricted, !secure { return "with same_site: none is taken with secure: true alone; add it" }
        if name.hasPrefix("__Secure-"), !secure {
            return "whose name begins with __Secure- is taken with secure: true alone; add it"
        }
        if name.hasPrefix("__Host-"), !secure || path != "/" || domain != nil {
            return "whose name begins with __Host- is taken with secure: true, path: / and no domain alone; write it so"
        }
        return nil
    }

    /// The Set-Cookie field's value (RFC 6265 §4.1.1).
    var line: String {
        var line = "\(name)=\(value)"
        if let domain { line += "; Domain=\(domain)" }
        if let path { line += "; Path=\(path)" }
        if let maxAge { line += "; Max-Age=\(maxAge)" }
        if let expires { line += "; Expires=\(expires)" }
        if secure { line += "; Secure" }
        if httpOnly { line += "; HttpOnly" }
        if let sameSite { line += "; SameSite=\(sameSite.rawValue)" }
        return line
    }
}
