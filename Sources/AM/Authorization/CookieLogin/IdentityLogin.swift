internal import Formats
internal import HTTPCodec
internal import Interception

/// A login in two steps: an identity service exchanges an API key for a token, then the service exchanges the token for a cookie.
struct IdentityLogin: Sendable {
    let identity: String
    let key: String
    let place: String
    let cookie: String
    private var hasToken = false

    init(identity: String, key: String, place: String, cookie: String) {
        self.identity = identity
        self.key = key
        self.place = place
        self.cookie = cookie
    }

    private static let grant = "urn:ibm:params:oauth:grant-type:apikey"

    var first: CallDraft {
        let form = [("grant_type", Self.grant), ("response_type", "cloud_iam"), ("apikey", key)]
            .map { "\($0)=\(PercentCoding.encode($1))" }
        return CallDraft(
            url: identity, type: "application/x-www-form-urlencoded", body: Array(form.joined(separator: "&").utf8),
            action: .identityToken, number: 1)
    }

    mutating func answered(_ head: ResponseHead, _ body: [UInt8], to request: RequestHead, now: Int) -> CookieStep {
        guard !hasToken else {
            if let fault = LoginFault(place, head) { return .failed(fault) }
            return .won(head, of: place, answering: request, cookie: cookie, now)
        }
        if let fault = LoginFault(identity, head) { return .failed(fault) }
        guard let token = (try? JSONValue(parsing: body))?["access_token"]?.text, !token.isEmpty else {
            return .failed(.broken("\(identity) responded without an access_token"))
        }
        hasToken = true
        let text: JSONValue = ["access_token": .string(token)]
        return .call(
            CallDraft(
                url: place, type: "application/json", body: Array(text.serialized.utf8), action: .sessionLogin,
                number: 2))
    }
}
