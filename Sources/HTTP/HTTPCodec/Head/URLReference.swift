import Formats

/// References to URLs (RFC 3986 §4.1), such as `Location` holds.
public enum URLReference {
    /// Where a reference leads, seen from a request (RFC 3986 §5.2): scheme, host, port and path, without a query. Dots in
    /// the path stay: which of them a server removes is a question of its own.
    ///
    /// Nil for what leads to no http or https URL, and for what browsers read in another way than this grammar does: a
    /// user name, a backslash, a control character, a scheme without `//`.
    public static func resolve(_ reference: String, against base: RequestHead) -> RequestHead? {
        let whole = reference.utf8
        guard whole.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        let text = String(Substring(whole.prefix { $0 != 0x3F && $0 != 0x23 }))
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x5C }) else { return nil }
        let url: String
        if let mark = text.utf8.first(where: { $0 == ASCII.colon || $0 == 0x2F }), mark == ASCII.colon {
            // a colon before the first slash ends a scheme, or the text is no reference (RFC 3986 §4.2)
            url = text
        } else if text.hasPrefix("//") {
            url = "\(base.target.scheme.name):\(text)"
        } else if text.hasPrefix("/") {
            url = base.originText + text
        } else if text.isEmpty {
            url = base.originText + base.path
        } else {
            let folder = base.path.utf8.lastIndex(of: 0x2F).map { base.path[...$0] } ?? "/"
            url = base.originText + folder + text
        }
        return try? RequestHead(method: "GET", url: url)
    }
}
