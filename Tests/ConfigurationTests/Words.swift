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

func words(_ edit: RequestEdit) -> String {
    switch edit {
    case .setHeader(let pairs): "setHeader \(words(pairs))"
    case .addHeader(let pairs): "addHeader \(words(pairs))"
    case .removeHeader(let names): "removeHeader \(names.joined(separator: " "))"
    case .setQuery(let pairs): "setQuery \(words(pairs))"
    case .addQuery(let pairs): "addQuery \(words(pairs))"
    case .removeQuery(let names): "removeQuery \(names.joined(separator: " "))"
    case .setCookie(let cookie): "setCookie \(words(cookie))"
    case .removeCookie(let names): "removeCookie \(names.joined(separator: " "))"
    case .setMethod(let text): "setMethod \(text)"
    case .setURL(let text): "setURL \(text)"
    case .setHost(let text): "setHost \(text)"
    case .setPath(let text): "setPath \(text)"
    case .rewriteURL(let pattern, let text): "rewriteURL \(pattern.text) → \(text)"
    case .respond(let answer): "respond \(words(answer))"
    case .abort(let reason): "abort \(reason)"
    }
}

func words(_ edit: ResponseEdit) -> String {
    switch edit {
    case .setHeader(let pairs): "setHeader \(words(pairs))"
    case .addHeader(let pairs): "addHeader \(words(pairs))"
    case .removeHeader(let names): "removeHeader \(names.joined(separator: " "))"
    case .setStatus(let status): "setStatus \(status)"
    case .setCookie(let cookie): "setCookie \(words(cookie))"
    case .respond(let answer): "respond \(words(answer))"
    case .abort(let reason): "abort \(reason)"
    }
}

private func words(_ pairs: [Pair]) -> String { pairs.map { "\($0.name)=\($0.value)" }.joined(separator: " ") }

private func words(_ cookie: CookieEdit) -> String {
    (["\(cookie.name)=\(cookie.value)"]
        + [cookie.domain, cookie.path, cookie.secure ? "secure" : nil, cookie.httpOnly ? "httpOnly" : nil]
        .compactMap { $0 }).joined(separator: "; ")
}

private func words(_ answer: LocalAnswer) -> String {
    "\(answer.status) \(words(answer.headers)) \(String(decoding: answer.body, as: UTF8.self))"
}
