internal import HTTPCodec

/// A cookie to send. In the request phase domain, path and secure decide whether it is sent at all, by the rules of a
/// cookie store (RFC 6265 §5.4).
public struct CookieEdit: Equatable, Sendable {
    public var name: String
    public var value: String
    public var domain: String?
    public var path: String?
    public var secure: Bool
    public var httpOnly: Bool

    public init(
        name: String, value: String, domain: String? = nil, path: String? = nil, secure: Bool = false,
        httpOnly: Bool = false
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.path = path
        self.secure = secure
        self.httpOnly = httpOnly
    }

    func check() throws(EditFault) {
        guard FieldSyntax.isName(name) else {
            throw EditFault(reason: "a cookie name holds a character that no name may hold, or is empty")
        }
        for part in [value, domain ?? "", path ?? ""] {
            // a semicolon would begin another cookie or attribute
            guard FieldSyntax.isValue(part), !part.utf8.contains(0x3B) else {
                throw EditFault(reason: "cookie \(name) holds a control character or a semicolon")
            }
        }
    }

    /// The Set-Cookie field's value (RFC 6265 §4.1.1).
    var line: String {
        var line = "\(name)=\(value)"
        if let domain { line += "; Domain=\(domain)" }
        if let path { line += "; Path=\(path)" }
        if secure { line += "; Secure" }
        if httpOnly { line += "; HttpOnly" }
        return line
    }
}
