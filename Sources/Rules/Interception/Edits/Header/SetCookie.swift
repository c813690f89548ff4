import Addresses
public import Declaration
import Formats
public import HTTPCodec

/// `set_cookie`.
public struct SetCookie: RequestEdit, ResponseEdit {
    public static let name = "set_cookie"
    public static let doc =
        "Request: sends a cookie if domain, path and secure allow it. Response: adds a Set-Cookie line."
    public static let shape = Shape.object(
        ObjectShape(
            "cookie",
            [
                Key("name", .text(.cookieName), "The cookie's name.", isRequired: true),
                Key("value", .template(.cookieValue), "The cookie's value.", isRequired: true),
                Key("domain", .text(.cookieDomain), "Hosts that get the cookie."),
                Key("path", .text(.cookiePath), "Paths that get the cookie."),
                Key("secure", .boolean, "Send it with https only.", standard: "false"),
                Key("http_only", .boolean, "Hide it from scripts.", standard: "false"),
                Key("max_age", .duration(0...400 * 86_400_000), "The lifetime. 0s deletes the cookie."),
                Key("expires", .text(.httpDate), "The end of the lifetime, used without max_age."),
                Key(
                    "same_site", .choice(CookieEdit.SameSite.allCases.map { ASCII.lowercased($0.rawValue) }),
                    "Sites whose requests may carry the cookie."),
            ]))

    public let cookie: CookieEdit
    /// The template of the cookie's value.
    private let template: Template?

    public init(_ cookie: CookieEdit) {
        self.cookie = cookie
        template = nil
    }

    public init?(_ value: Decoded, _ reader: RuleReader) {
        guard let fields = value.fields, let name = fields.text("name"), let written = fields["value"] else {
            return nil
        }
        template = reader.template(written, .cookie)
        guard template != nil || written.text != nil else { return nil }
        let domain = fields.text("domain").map {
            HostName.normalized($0.hasPrefix(".") ? $0.dropFirst() : $0[...])
        }
        cookie = CookieEdit(
            name: name, value: written.text ?? "", domain: domain, path: fields.text("path"),
            secure: fields.flag("secure") ?? false,
            httpOnly: fields.flag("http_only") ?? false, maxAge: fields.number("max_age").map { ($0 + 999) / 1000 },
            expires: fields.text("expires"),
            sameSite: fields.text("same_site").flatMap { word in
                CookieEdit.SameSite.allCases.first { ASCII.equal($0.rawValue, word) }
            })
        if let refusal = cookie.refusal { reader.findings.error(value.position, "a cookie \(refusal)") }
    }

    public var templates: [Template] { [template].compactMap { $0 } }
    public var words: [String] { ["set cookie \(cookie.name)"] }

    public func filled(by filler: inout TemplateFiller) throws(EditFault) -> Self? {
        guard let template else { return self }
        guard let value = try filler.text(template, "cookie \(cookie.name)") else { return nil }
        var filled = cookie
        filled.value = value
        return Self(filled)
    }

    public func apply(to head: inout ResponseHead) throws(EditFault) -> EditEffect {
        try cookie.check()
        head.fields.add("Set-Cookie", cookie.line)
        return .done
    }

    public func apply(to head: inout RequestHead) throws(EditFault) -> EditEffect {
        try cookie.check()
        if let refusal = CookieScope.refusal(cookie, for: head) {
            return .changed(["did not send cookie \(cookie.name): \(refusal)"])
        }
        send(&head.fields)
        return .done
    }

    private func send(_ fields: inout FieldTable) {
        let lines = fields.slots.indices.filter { fields.slots[$0].known == .cookie }
        let holder = lines.first { CookieText(fields.value($0))[cookie.name] != nil }
        guard let target = holder ?? lines.first else {
            return fields.add("Cookie", "\(cookie.name)=\(cookie.value)")
        }
        var text = CookieText(fields.value(target))
        text.set(cookie.name, cookie.value)
        fields.setValue(target, text.text)
        // a cookie of this name in a later Cookie field would compete with the new value
        for index in lines.reversed() where index > target {
            RemoveCookie.remove(from: &fields, at: index) { $0 == cookie.name }
        }
    }
}

extension TextFormat {
    /// An HTTP date (RFC 9110 §5.6.7).
    static let httpDate = TextFormat(
        "a date as HTTP writes it, such as Wed, 21 Oct 2026 07:28:00 GMT", isPublic: true
    ) { CalendarTime.seconds(ofHTTP: $0, now: 0) != nil }
}
