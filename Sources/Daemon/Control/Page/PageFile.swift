/// A file of the page, held in memory.
public struct PageFile: Sendable {
    /// The files of the page and their media types. No others are served.
    public static let types: KeyValuePairs<String, String> = [
        "index.html": "text/html; charset=utf-8", "app.js": "text/javascript; charset=utf-8",
        "app.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml",
    ]

    public let name: String
    let type: String
    let bytes: [UInt8]

    public init(_ name: String, type: String, _ bytes: [UInt8]) {
        (self.name, self.type, self.bytes) = (name, type, bytes)
    }

    /// The path that it is served at.
    var path: String { name == "index.html" ? "/" : "/\(name)" }

    /// The file as a browser gets it: it loads nothing from elsewhere, and no other site can embed or read it.
    var answer: ControlAnswer { Self.guarded(ControlAnswer(bytes, type: type)) }

    static func guarded(_ answer: ControlAnswer) -> ControlAnswer {
        var answer = answer
        answer.fields += [
            .init("Content-Security-Policy", policy), .init("X-Frame-Options", "DENY"),
            .init("Referrer-Policy", "no-referrer"), .init("Cross-Origin-Opener-Policy", "same-origin"),
            .init("Cross-Origin-Resource-Policy", "same-origin"),
        ]
        return answer
    }

    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}
