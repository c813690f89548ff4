import Addresses
import HTTPCodec
import Passwords

/// `clients.basic`: who asks has to say who it is (RFC 9110 §11.7, RFC 7617). Decides what becomes of a request; somebody else
/// checks the password.
enum PasswordGate {
    /// How long a check may take, in milliseconds, when many wait.
    static let longestCheck = 10_000

    private static let wrong = "the user name or the password is wrong"

    /// What has to be checked for a request.
    /// - Throws: the challenge that it is answered with.
    static func check(
        _ request: RequestHead, _ users: PasswordTable?, flow: UInt64, client: IPAddress?
    ) throws(ProxyError) -> PasswordCheck {
        guard let users, let credentials = BasicCredentials(request) else {
            let lacks = !request.fields.contains(.proxyAuthorization)
            throw challenge(
                lacks
                    ? "this proxy asks for a user name and a password: write them into its URL, http://USER:PASSWORD@HOST:PORT"
                    : "Proxy-Authorization has to hold one user name and password in the scheme Basic")
        }
        guard let hash = users.hash(of: credentials.user) else { throw challenge(wrong) }
        return PasswordCheck(
            flow: flow, user: credentials.user, password: credentials.password, hash: hash.text, isDecoy: hash.isDecoy,
            client: client)
    }

    /// Why the request goes no further; nil where the password is right.
    static func refusal(_ verdict: PasswordVerdict) -> ProxyError? {
        switch verdict {
        case .right: nil
        case .wrong: challenge(wrong)
        case .tooMany(let wait):
            later(429, "too many wrong passwords came from this network, or for this user", wait: wait)
        case .busy: later(503, "too many passwords wait to be checked", wait: 1_000)
        }
    }

    static let late = later(503, "the password could not be checked in time", wait: 1_000)

    private static func challenge(_ details: String) -> ProxyError {
        var error = ProxyError("http_request_denied", status: 407, details)
        error.fields = [.init("Proxy-Authenticate", #"Basic realm="usher", charset="UTF-8""#)]
        return error
    }

    private static func later(_ status: Int, _ details: String, wait: Int) -> ProxyError {
        var error = ProxyError("http_request_denied", status: status, "\(details); try again later")
        error.fields = [.init("Retry-After", "\(max(1, (wait + 999) / 1000))")]
        return error
    }
}
