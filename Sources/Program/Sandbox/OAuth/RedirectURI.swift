internal import Formats
internal import HTTPCodec

/// Redirect URIs.
enum RedirectURI {
    /// Whether a text is an absolute URL of visible ASCII without a fragment (RFC 6749 §3.1.2).
    static func isUsable(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return false }
        return text[..<colon].utf8.allSatisfy {
            ASCII.isAlpha($0) || ASCII.isDigit($0) || [0x2B, 0x2D, 0x2E].contains($0)
        }
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x23 }
    }

    /// Whether codes may be sent there: loopback, a private-use scheme, or a configured URI.
    static func isRegistered(_ text: String, _ named: [String]) -> Bool {
        if named.contains(text) { return true }
        let scheme = ASCII.lowercased(String(text.prefix { $0 != ":" }))
        // RFC 8252 §7.1: a reversed domain name
        guard scheme == "http" || scheme == "https" else { return scheme.contains(".") }
        guard let host = (try? RequestHead(method: "GET", url: text))?.host else { return false }
        return ["localhost", "127.0.0.1", "::1"].contains(host) || host.hasSuffix(".localhost")
    }

    static func adding(_ parameters: [(String, String)], to url: String) -> String {
        var query = QueryText("")
        for (name, value) in parameters { query.add(name, value) }
        return query.isEmpty ? url : url + (url.contains("?") ? "&" : "?") + query.text
    }
}
