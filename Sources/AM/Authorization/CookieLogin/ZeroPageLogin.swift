internal import Formats
internal import HTTPCodec
internal import Interception

/// A login at AM with a name and a password in header fields. The tree needs a Zero Page Login Collector, as trees for agents
/// have.
struct ZeroPageLogin: Sendable {
    let place: String
    let user: String
    let password: String
    let cookie: String

    var call: CallDraft {
        CallDraft(
            url: place, type: "application/json", body: Array("{}".utf8),
            fields: [
                ("Accept-API-Version", "protocol=1.0,resource=2.1"), ("X-Requested-With", "forgerock-sdk"),
                ("X-OpenAM-Username", Self.encoded(user)), ("X-OpenAM-Password", Self.encoded(password)),
            ], action: .startAuthenticate, number: 1)
    }

    /// Encodes text other than plain ASCII as an encoded word (RFC 2047 §2), which AM decodes.
    private static func encoded(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && !text.hasPrefix("=?")
        return isPlain ? text : "=?UTF-8?B?\(Base64.encode(Array(text.utf8)))?="
    }

    func answered(_ head: ResponseHead, _ body: [UInt8], to request: RequestHead, now: Int) -> CookieStep {
        if let fault = LoginFault("AM", head) { return .failed(fault) }
        let answer = try? JSONValue(parsing: body)
        if answer?["authId"]?.text != nil {
            return .failed(
                LoginFault(
                    reason:
                        "AM asks the agent for callbacks; name a tree that takes a name and a password from header fields (zero page login)",
                    isRefusal: true))
        }
        var fields = head.fields
        var jar = CookieJar()
        jar.take(fields, answering: request, now: now)
        if jar[cookie] == nil, let token = answer?["tokenId"]?.text, SessionSource.isUsable(token) {
            fields.add("Set-Cookie", "\(cookie)=\(token); Path=/")
            jar.take(fields, answering: request, now: now)
        }
        guard jar[cookie] != nil else { return .failed(.broken("AM granted the agent's login and told no session")) }
        return .won(jar)
    }
}
