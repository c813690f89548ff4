internal import HTTPCodec

extension RequestEdit: Edit {
    var ending: Ending? {
        switch self {
        case .respond(let answer): .respond(answer)
        case .abort(let reason): .abort(reason)
        default: nil
        }
    }

    func apply(to head: inout RequestHead) throws(EditFault) -> [String] {
        switch self {
        case .setHeader(let pairs):
            for pair in pairs where ASCII.equal(pair.name, "host") { try Self.checkHost(pair.value) }
            return try FieldEdit.set(pairs, in: &head.fields)
        case .addHeader(let pairs):
            for pair in pairs where ASCII.equal(pair.name, "host") {
                try Self.checkHost(pair.value)
                guard !head.fields.contains(.host) else {
                    throw EditFault(reason: "a request carries one Host header; use set_header")
                }
            }
            return try FieldEdit.add(pairs, to: &head.fields)
        case .removeHeader(let names): return FieldEdit.remove(names, from: &head.fields)

        case .setQuery(let pairs):
            return try Self.editQuery(&head) { query in
                for pair in pairs { query.set(pair.name, pair.value) }
                return pairs.map { "set query \($0.name)" }
            }
        case .addQuery(let pairs):
            return try Self.editQuery(&head) { query in
                for pair in pairs { query.add(pair.name, pair.value) }
                return pairs.map { "added query \($0.name)" }
            }
        case .removeQuery(let names):
            return try Self.editQuery(&head) { query in
                names.map { name in
                    let before = query.pairs.count
                    query.removeAll { Glob.matches(name, $0) }
                    return FieldEdit.removed(before - query.pairs.count, "query \(name)")
                }
            }

        case .setCookie(let cookie): return [try Self.setCookie(cookie, in: &head)]
        case .removeCookie(let names): return names.map { Self.removeCookie($0, from: &head.fields) }

        case .setMethod(let method):
            guard FieldSyntax.isName(method) else {
                throw EditFault(reason: "the method holds a character that no method may hold, or is empty")
            }
            guard method != "CONNECT" else { throw EditFault(reason: "a request cannot become a CONNECT") }
            head.setMethod(method)
            return ["set method \(method)"]
        case .setURL(let url):
            try Self.retarget(&head, url)
            return ["set URL to \(Self.place(head))"]
        case .setHost(let host):
            try Self.setHost(host, of: &head)
            return ["set host to \(head.fields.text(head.target.authority))"]
        case .setPath(let path):
            try Self.setPath(path, of: &head)
            return ["set path"]
        case .rewriteURL(let pattern, let replacement):
            guard let url = try Self.rewritten(head.url, pattern, replacement) else {
                return ["found nothing to rewrite in the URL"]
            }
            try Self.retarget(&head, url)
            return ["rewrote URL to \(Self.place(head))"]

        case .respond, .abort: return []
        }
    }

    /// Scheme, authority and path: a query, or what stands behind a semicolon, may hold secrets.
    private static func place(_ head: RequestHead) -> String {
        "\(head.target.scheme.name)://\(head.fields.text(head.target.authority))\(head.path.prefix { $0 != ";" })"
    }
}

// MARK: the URL

extension RequestEdit {
    /// A rewritten URL may be this long, or twice as long as it was.
    private static let longestRewritten = 64 << 10

    private static func rewritten(
        _ url: String, _ pattern: Pattern, _ replacement: String
    ) throws(EditFault) -> String? {
        let bound = max(longestRewritten, 2 * url.utf8.count)
        do {
            return try pattern.replacing(in: url, with: replacement, bound: bound)
        } catch {
            throw EditFault(reason: "the rewritten URL would be longer than \(bound) bytes")
        }
    }

    /// - Throws: when the request has no URL with a path: `OPTIONS *`, CONNECT.
    private static func checkHasPath(_ head: RequestHead) throws(EditFault) {
        guard head.target.form == .absolute || head.target.form == .origin else {
            throw EditFault(reason: "the request's target \(head.targetText) is no URL that could be changed")
        }
    }

    private static func checkHost(_ authority: String) throws(EditFault) {
        var scratch = RequestHead()
        do {
            try scratch.adopt(authority: authority, scheme: .http)
        } catch {
            throw EditFault(reason: "the host is not a name or address with an optional port")
        }
    }

    /// Points the request elsewhere. Host follows when host or port changed.
    private static func retarget(_ head: inout RequestHead, _ url: String) throws(EditFault) {
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

    /// A host without a port keeps the port that the URL names.
    private static func setHost(_ host: String, of head: inout RequestHead) throws(EditFault) {
        try checkHost(host)
        let hasPort = host.utf8.last != 0x5D && host.utf8.contains(ASCII.colon)
        let old = head.target
        let kept = hasPort || old.port == old.scheme.defaultPort ? "" : ":\(old.port)"
        try retarget(&head, "\(old.scheme.name)://\(host)\(kept)\(head.fields.text(old.pathAndQuery))")
    }

    private static func setPath(_ path: String, of head: inout RequestHead) throws(EditFault) {
        guard path.utf8.first == 0x2F else { throw EditFault(reason: "a path begins with a slash") }
        guard !path.utf8.contains(0x3F) else {
            throw EditFault(reason: "a path holds no question mark; use set_query for the query")
        }
        let old = head.target
        let query = old.query.map { "?\(head.fields.text($0))" } ?? ""
        try retarget(&head, "\(old.scheme.name)://\(head.fields.text(old.authority))\(path)\(query)")
    }

    private static func editQuery(
        _ head: inout RequestHead, _ edit: (inout QueryText) -> [String]
    ) throws(EditFault) -> [String] {
        try checkHasPath(head)
        let before = QueryText(head.query ?? "")
        var query = before
        let notes = edit(&query)
        guard query != before else { return notes }
        let path = head.fields.text(head.target.path)
        do {
            try head.setPathAndQuery(query.isEmpty ? path : "\(path)?\(query.text)")
        } catch {
            throw EditFault(reason: "the URL would not be valid: \(error.explanation)")
        }
        return notes
    }
}

// MARK: cookies

extension RequestEdit {
    private static func setCookie(_ cookie: CookieEdit, in head: inout RequestHead) throws(EditFault) -> String {
        try FieldEdit.check(cookie)
        if let refusal = CookieScope.refusal(cookie, for: head) {
            return "did not send cookie \(cookie.name): \(refusal)"
        }
        let lines = head.fields.slots.indices.filter { head.fields.slots[$0].known == .cookie }
        let holder = lines.first { CookieText(head.fields.value($0))[cookie.name] != nil }
        guard let target = holder ?? lines.first else {
            head.fields.add("Cookie", "\(cookie.name)=\(cookie.value)")
            return "set cookie \(cookie.name)"
        }
        var text = CookieText(head.fields.value(target))
        text.set(cookie.name, cookie.value)
        head.fields.setValue(target, text.text)
        // the same name in a further Cookie line would stand beside the new value
        for index in lines.reversed() where index > target {
            remove(from: &head.fields, at: index) { $0 == cookie.name }
        }
        return "set cookie \(cookie.name)"
    }

    private static func removeCookie(_ name: String, from fields: inout FieldTable) -> String {
        var count = 0
        for index in fields.slots.indices.reversed() where fields.slots[index].known == .cookie {
            count += remove(from: &fields, at: index) { Glob.matches(name, $0) }
        }
        return FieldEdit.removed(count, "cookie \(name)")
    }

    /// Takes cookies out of one Cookie line, and the line when nothing is left; says how many there were.
    @discardableResult
    private static func remove(
        from fields: inout FieldTable, at index: Int, where matches: (String) -> Bool
    ) -> Int {
        let before = CookieText(fields.value(index))
        var text = before
        text.removeAll(where: matches)
        guard text != before else { return 0 }
        if text.isEmpty { fields.remove(at: index) } else { fields.setValue(index, text.text) }
        return before.pairs.count - text.pairs.count
    }
}
