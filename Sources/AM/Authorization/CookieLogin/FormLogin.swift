internal import Formats
internal import HTTPCodec
internal import Interception

/// A login by one form, such as CouchDB's `_session`.
struct FormLogin: Sendable {
    let place: String
    let fields: [CookieLogin.FormField]
    let cookie: String

    /// Encodes each value once, so that the form decodes to the configured text.
    var call: CallDraft {
        let form = fields.map { "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))" }
        return CallDraft(
            url: place, type: "application/x-www-form-urlencoded", body: Array(form.joined(separator: "&").utf8),
            action: .sessionLogin, number: 1)
    }

    func answered(_ head: ResponseHead, _ body: [UInt8], to request: RequestHead, now: Int) -> CookieStep {
        if let fault = LoginFault(place, head) { return .failed(fault) }
        // CouchDB reports a refused login in the body too
        if let answer = try? JSONValue(parsing: body), answer["ok"] == .bool(false) {
            return .failed(LoginFault(reason: "\(place) responded that the login is not ok", isRefusal: true))
        }
        return .won(head, of: place, answering: request, cookie: cookie, now)
    }
}

extension CookieStep {
    /// The result of a successful login.
    static func won(
        _ head: ResponseHead, of place: String, answering request: RequestHead, cookie: String, _ now: Int
    ) -> CookieStep {
        var jar = CookieJar()
        jar.take(head.fields, answering: request, now: now)
        guard jar[cookie] != nil else {
            return .failed(
                .broken("\(place) granted the login and set no cookie \(cookie) that could be kept; see the key cookie")
            )
        }
        return .won(jar)
    }
}
