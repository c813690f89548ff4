internal import HTTPCodec
internal import Interception

/// `request` and `response` lists of an interceptor → edits.
struct EditBuilder {
    let findings: Findings
    let conditions: ConditionBuilder

    func requestEdits(_ items: [Decoded]) -> [RequestEdit] {
        edits(items).flatMap { field -> [RequestEdit] in
            let value = field.value
            switch field.name {
            case "set_header": return [.setHeader(headers(value))]
            case "add_header": return [.addHeader(headers(value))]
            case "remove_header": return [.removeHeader(headerNames(value))]
            case "set_query": return [.setQuery(pairs(value))]
            case "add_query": return [.addQuery(pairs(value))]
            case "remove_query": return [.removeQuery(texts(value))]
            case "set_cookie": return cookie(value).map { [.setCookie($0)] } ?? []
            case "remove_cookie": return [.removeCookie(texts(value))]
            case "set_method": return value.text.map { [.setMethod($0)] } ?? []
            case "set_url": return value.text.map { [.setURL($0)] } ?? []
            case "set_host": return value.text.map { [.setHost($0)] } ?? []
            case "set_path": return value.text.map { [.setPath($0)] } ?? []
            case "rewrite_url": return rewrites(value)
            case "respond": return answer(value).map { [.respond($0)] } ?? []
            case "abort": return [.abort(reason(value))]
            default: return []
            }
        }
    }

    func responseEdits(_ items: [Decoded]) -> [ResponseEdit] {
        edits(items).flatMap { field -> [ResponseEdit] in
            let value = field.value
            switch field.name {
            case "set_header": return [.setHeader(headers(value))]
            case "add_header": return [.addHeader(headers(value))]
            case "remove_header": return [.removeHeader(headerNames(value))]
            case "set_status": return value.number.map { [.setStatus($0)] } ?? []
            case "set_cookie": return cookie(value).map { [.setCookie($0)] } ?? []
            case "respond": return answer(value).map { [.respond($0)] } ?? []
            case "abort": return [.abort(reason(value))]
            default: return []
            }
        }
    }

    /// The edits of all entries in order; an entry may hold several.
    private func edits(_ items: [Decoded]) -> [Fields.Field] {
        for item in items where item.fields?.written.isEmpty == true {
            findings.error(item.position, "an entry without an edit; write one, such as - set_header: { NAME: value }")
        }
        let edits = items.flatMap { $0.fields?.all ?? [] }
        if let end = edits.firstIndex(where: { ["respond", "abort"].contains($0.name) }), end + 1 < edits.count {
            findings.warning(
                edits[end + 1].position, "this is never reached, for \"\(edits[end].name)\" before it ends the exchange"
            )
        }
        return edits
    }

    // MARK: values

    private func texts(_ value: Decoded) -> [String] {
        if value.isEmptyList { findings.error(value.position, "an empty list removes nothing; remove the edit") }
        return value.list.compactMap(\.text)
    }

    private func pairs(_ value: Decoded) -> [Pair] {
        let fields = value.fields
        if fields?.written.isEmpty == true {
            findings.error(
                value.position, "an edit without a name changes nothing; write { NAME: value } or remove the edit")
        }
        return (fields?.all ?? []).compactMap { field in field.value.text.map { Pair(field.name, $0) } }
    }

    private func headers(_ value: Decoded) -> [Pair] {
        checkWritable(value.fields)
        return pairs(value)
    }

    private func checkWritable(_ fields: Fields?) {
        for field in fields?.all ?? [] where !HeaderRules.isWritable(field.name) {
            findings.error(
                field.position,
                "\(field.name) frames a message or concerns one connection, so Usher writes it itself; remove it here")
        }
    }

    private func headerNames(_ value: Decoded) -> [String] {
        for item in value.list where item.text.map(HeaderRules.isWritable) == false {
            findings.warning(
                item.position,
                "\(item.written) frames a message or concerns one connection, so Usher writes it itself and it is never removed; remove it here"
            )
        }
        return texts(value)
    }

    private func cookie(_ value: Decoded) -> CookieEdit? {
        guard let fields = value.fields, let name = fields.text("name"), let text = fields.text("value") else {
            return nil
        }
        let domain = fields.text("domain").map {
            HostName.normalized($0.hasPrefix(".") ? $0.dropFirst() : $0[...])
        }
        return CookieEdit(
            name: name, value: text, domain: domain, path: fields.text("path"), secure: fields.flag("secure") ?? false,
            httpOnly: fields.flag("http_only") ?? false)
    }

    private func rewrites(_ value: Decoded) -> [RequestEdit] {
        (value.fields?.all ?? []).compactMap { field in
            guard field.name.hasPrefix("~") else {
                findings.error(
                    field.position,
                    "rewrite_url takes a regular expression behind ~ as key, found \"\(Walker.shown(field.name))\"",
                    nearest: "~\(field.name)")
                return nil
            }
            guard let pattern = conditions.pattern(field.name, field.position, field.name, "rewrite_url") else {
                return nil
            }
            return field.value.text.map { .rewriteURL(pattern, $0) }
        }
    }

    private func reason(_ value: Decoded) -> String { value.text ?? value.fields?.text("reason") ?? "" }

    private func answer(_ value: Decoded) -> LocalAnswer? {
        guard let fields = value.fields else { return nil }
        let bodies = ["json", "text", "body"].filter(fields.has)
        if bodies.count > 1 {
            findings.error(value.position, "an answer has one body, found \(bodies.joined(separator: " and "))")
        }
        var answer = LocalAnswer(status: fields.number("status") ?? 200)
        if !bodies.isEmpty, [204, 205, 304].contains(answer.status) {
            findings.error(value.position, "an answer with status \(answer.status) has no body; remove \(bodies[0])")
        }
        checkWritable(fields.fields("headers"))
        answer.headers =
            fields["headers"].flatMap(\.fields)?.all.compactMap { field in
                field.value.text.map { Pair(field.name, $0) }
            } ?? []
        var type: String?
        if let json = fields["json"]?.json {
            json.write(to: &answer.body)
            type = "application/json"
        } else if let text = fields.text("text") {
            answer.body = Array(text.utf8)
            type = "text/plain; charset=utf-8"
        } else if let body = fields.text("body") {
            answer.body = Array(body.utf8)
            type = "application/octet-stream"
        }
        let hasType = answer.headers.contains { ASCII.equal($0.name, "Content-Type") }
        if hasType, fields.has("content_type") {
            findings.error(
                value.position, "the content type is given twice, in headers and in content_type; remove one")
        }
        if let type = fields.text("content_type") ?? type, !hasType {
            answer.headers.append(Pair("Content-Type", type))
        }
        return answer
    }
}
