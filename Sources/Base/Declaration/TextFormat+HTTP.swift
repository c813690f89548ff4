internal import Addresses
internal import Formats
internal import HTTPCodec

/// The formats that HTTP defines.
extension TextFormat {
    // MARK: URLs

    /// Messages never quote a URL with a password: the part before an @ may be a secret.
    public static let url = TextFormat(
        "an http or https URL, such as https://am.example.com/am", pattern: "^https?://", host: .url
    ) { isURL($0) }

    public static let serverURL = TextFormat(
        "an http or https URL without a query, such as https://am.example.com/am", pattern: "^https?://[^?#]+$",
        host: .url, isPublic: true
    ) { isURL($0) && !$0.utf8.contains(0x3F) }

    public static let path = TextFormat("a path that begins with /, without a query", pattern: "^/[^?# ]*$") {
        isPath($0) && !$0.utf8.contains(0x3F)
    }

    public static let realm = TextFormat(
        "the path of a realm, such as / or /alpha", pattern: "^/([^/]+(/[^/]+)*)?$", isPublic: true
    ) { text in
        text == "/"
            || isPath(text)
                && text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
    }

    public static let authority = TextFormat(
        "a host with or without a port, such as www.example.com:8080", host: .whole, isPublic: true
    ) {
        text in
        isURL("http://\(text)") && !text.utf8.contains { $0 == 0x2F || $0 == 0x3F }
    }

    // MARK: fields and cookies

    public static let method = TextFormat(
        "a method in capitals, such as GET", pattern: "^[A-Z][A-Z-]*$", isPublic: true
    ) {
        text in
        FieldSyntax.isName(text) && !text.utf8.contains { (0x61...0x7A).contains($0) } && text != "CONNECT"
    }

    public static let headerName = TextFormat(
        "the name of a header", pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", isPublic: true
    ) { FieldSyntax.isName($0) }

    public static let headerValue = TextFormat("a header value without control characters", isQuotable: false) {
        FieldSyntax.isValue($0)
    }

    public static let cookieName = TextFormat(
        "the name of a cookie", pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", isPublic: true
    ) { FieldSyntax.isName($0) }

    public static let cookieValue = TextFormat(
        "a cookie value without semicolons, control characters, or spaces at its ends", isQuotable: false
    ) { text in
        FieldSyntax.isValue(text) && !text.utf8.contains { $0 == 0x3B || $0 == ASCII.tab } && !text.hasPrefix(" ")
            && !text.hasSuffix(" ")
    }

    public static let cookieDomain = TextFormat("a cookie domain, such as example.com", host: .whole, isPublic: true) {
        text in
        let host = text.hasPrefix(".") ? text.dropFirst() : text[...]
        return !host.isEmpty && host.utf8.allSatisfy(ASCII.isUnreserved)
    }

    public static let cookiePath = TextFormat("a cookie path that begins with /", pattern: "^/") {
        isPath($0) && !$0.utf8.contains(0x3B)
    }

    private static func isURL(_ text: String) -> Bool {
        (try? RequestHead(method: "GET", url: text)).map { !IPAddress.isLookalike($0.host) } ?? false
    }

    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x23 }
    }
}
