internal import HTTPCodec

extension ResponseEdit: Edit {
    var ending: Ending? {
        switch self {
        case .respond(let answer): .respond(answer)
        case .abort(let reason): .abort(reason)
        default: nil
        }
    }

    func apply(to head: inout ResponseHead) throws(EditFault) -> [String] {
        switch self {
        case .setHeader(let pairs): return try FieldEdit.set(pairs, in: &head.fields)
        case .addHeader(let pairs): return try FieldEdit.add(pairs, to: &head.fields)
        case .removeHeader(let names): return FieldEdit.remove(names, from: &head.fields)
        case .setStatus(let status):
            guard (200..<600).contains(status) else {
                throw EditFault(reason: "\(status) is no status that an answer can have")
            }
            head.setStatus(status, reason: ReasonPhrase.of(status))
            return ["set status \(status)"]
        case .setCookie(let cookie):
            try FieldEdit.check(cookie)
            head.fields.add("Set-Cookie", cookie.line)
            return ["set cookie \(cookie.name)"]
        case .respond, .abort: return []
        }
    }
}

extension CookieEdit {
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
