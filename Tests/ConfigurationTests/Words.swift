import Interception

// Rules in words, to be compared: conditions hold regular expressions, which are not equatable.

func words(_ condition: Condition) -> String {
    switch condition {
    case .always: "always"
    case .all(let parts): "all(\(parts.map(words).joined(separator: ",")))"
    case .any(let parts): "any(\(parts.map(words).joined(separator: ",")))"
    case .not(let part): "not(\(words(part)))"
    case .test(let key, let matchers): "test(\(key),\(matchers.map(words).joined(separator: ",")))"
    }
}

private func words(_ matcher: TextMatcher) -> String {
    switch matcher {
    case .exact(let text): "exact \"\(text)\""
    case .glob(let text): "glob \"\(text)\""
    case .pattern(let pattern): "pattern \"\(pattern.text)\""
    case .range(let range): "\(range)"
    }
}

func words(_ edit: any Edit) -> String {
    switch edit {
    case let edit as SetHeader: "setHeader \(words(edit.pairs))"
    case let edit as AddHeader: "addHeader \(words(edit.pairs))"
    case let edit as RemoveHeader: "removeHeader \(edit.names.joined(separator: " "))"
    case let edit as SetQuery: "setQuery \(words(edit.pairs))"
    case let edit as AddQuery: "addQuery \(words(edit.pairs))"
    case let edit as RemoveQuery: "removeQuery \(edit.names.joined(separator: " "))"
    case let edit as SetCookie: "setCookie \(words(edit.cookie))"
    case let edit as RemoveCookie: "removeCookie \(edit.names.joined(separator: " "))"
    case let edit as SetMethod: "setMethod \(edit.method)"
    case let edit as SetURL: "setURL \(edit.url)"
    case let edit as SetHost: "setHost \(edit.host)"
    case let edit as SetPath: "setPath \(edit.path)"
    case let edit as RewriteURL:
        edit.rewrites.map { "rewriteURL \($0.pattern.text) → \($0.replacement)" }.joined(separator: "; ")
    case let edit as SetStatus: "setStatus \(edit.status)"
    case let edit as Respond: "respond \(words(edit.answer))"
    case let edit as Abort: "abort \(edit.reason)"
    default: "\(type(of: edit).name)?"
    }
}

private func words(_ pairs: [Pair]) -> String { pairs.map { "\($0.name)=\($0.value)" }.joined(separator: " ") }

private func words(_ cookie: CookieEdit) -> String {
    (["\(cookie.name)=\(cookie.value)"]
        + [cookie.domain, cookie.path, cookie.secure ? "secure" : nil, cookie.httpOnly ? "httpOnly" : nil]
        .compactMap { $0 }).joined(separator: "; ")
}

private func words(_ answer: DirectResponse) -> String {
    "\(answer.status) \(words(answer.headers)) \(String(decoding: answer.body, as: UTF8.self))"
}
