internal import Formats
internal import HTTPCodec

/// What the edits of a request's URL have in common.
enum URLEdit {
    /// Scheme, authority and path: a query, or what stands behind a semicolon, may hold secrets.
    static func place(_ head: RequestHead) -> String {
        "\(head.target.scheme.name)://\(head.fields.text(head.target.authority))\(head.path.prefix { $0 != ";" })"
    }

    /// - Throws: when the request has no URL with a path: `OPTIONS *`, CONNECT.
    static func checkHasPath(_ head: RequestHead) throws(EditFault) {
        guard head.target.form == .absolute || head.target.form == .origin else {
            throw EditFault(reason: "the request's target \(head.targetText) is no URL that could be changed")
        }
    }

    /// Points the request elsewhere. Host follows when host or port changed.
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

    /// A URL holds ASCII alone (RFC 3986 §2); what a configuration writes beyond it is meant as UTF-8.
    private static func escapingNonASCII(_ text: String) -> String {
        text.unicodeScalars.map { $0.isASCII ? String($0) : PercentCoding.encode(String($0)) }.joined()
    }

    /// Parameters as they stand in a query; nil where an exchange has to make their values, or one name stands twice.
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
