internal import Formats
internal import HTTPCodec

/// Code shared by the edits of a request's URL.
enum URLEdit {
    /// Scheme, authority and path. Queries and path parameters are omitted, because they may hold secrets.
    static func place(_ head: RequestHead) -> String {
        "\(head.target.scheme.name)://\(head.fields.text(head.target.authority))\(head.path.prefix { $0 != ";" })"
    }

    /// - Throws: if the request has no URL with a path: `OPTIONS *` or CONNECT.
    static func checkHasPath(_ head: RequestHead) throws(EditFault) {
        guard head.target.form == .absolute || head.target.form == .origin else {
            throw EditFault(reason: "the request's target \(head.targetText) is not a URL that can be changed")
        }
    }

    /// Changes the request's URL. Host is rewritten if the host or the port changes.
    static func retarget(_ head: inout RequestHead, _ url: String) throws(EditFault) {
        try checkHasPath(head)
        let before = (head.host, head.target.port)
        do {
            try head.setURL(url)
            if url.utf8.contains(where: { $0 >= 0x80 }) { try head.setURL(escapingNonASCII(url)) }
        } catch {
            throw EditFault(reason: "the URL would not be valid: \(error.explanation)")
        }
        if before != (head.host, head.target.port) { head.fields.set("Host", head.fields.text(head.target.authority)) }
    }

    /// Escapes non-ASCII characters as UTF-8: a URL is ASCII only (RFC 3986 §2).
    private static func escapingNonASCII(_ text: String) -> String {
        text.unicodeScalars.map { $0.isASCII ? String($0) : PercentCoding.encode(String($0)) }.joined()
    }

    /// The encoded parameters; nil if a value has a template or a name occurs twice.
    static func written(_ pairs: [Pair]) -> [UInt8]? {
        guard !pairs.isEmpty, pairs.allSatisfy({ $0.template == nil }), Set(pairs.map(\.name)).count == pairs.count
        else { return nil }
        var query = QueryText("")
        for pair in pairs { query.add(pair.name, pair.value) }
        return Array(query.text.utf8)
    }

    static func editQuery(
        _ head: inout RequestHead, _ edit: (inout QueryText) -> [String]
    ) throws(EditFault) -> EditEffect {
        try checkHasPath(head)
        let before = QueryText(head.query ?? "")
        var query = before
        let notes = edit(&query)
        guard query != before else { return .changed(notes) }
        let path = head.fields.text(head.target.path)
        do {
            try head.setPathAndQuery(query.isEmpty ? path : "\(path)?\(query.text)")
        } catch {
            throw EditFault(reason: "the URL would not be valid: \(error.explanation)")
        }
        return .changed(notes)
    }
}
