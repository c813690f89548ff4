public import Authorization
public import Interception

/// The cookies of logins: one jar for each login and origin.
public typealias CookieSessions = SharedLogins<CookieJar>
public typealias CookieSessionStore = SharedLoginStore<CookieJar>

/// A login and the origin of its cookies.
public struct CookieLoginKey: LoginKey {
    let login: CookieLogin
    /// Scheme, host and port.
    let origin: String

    public init(_ login: CookieLogin, origin: String) {
        self.login = login
        self.origin = origin
    }

    public var owner: String { login.interceptor }
    public var hold: Int { login.hold }
    public var coolDown: Int { login.coolDown }
}

extension CookieJar: LoginGain {
    /// The most jars; configurations rarely have as many logins and origins.
    public static var most: Int { 1024 }
    public static var mostUnderWay: Int { 64 }
    public static var notAgain: String {
        "a cookie that had just been won was refused as well, so no other is asked for yet (cool_down)"
    }

    /// A cookie without an expiry is valid.
    public func lasts(_ key: CookieLoginKey, until seconds: Int) -> Bool {
        guard let found = self[key.login.cookie] else { return false }
        return found.expires.map { $0 > seconds } ?? true
    }

    public func isDue(_ key: CookieLoginKey, at seconds: Int) -> Bool {
        !lasts(key, until: seconds + key.login.renewBefore)
    }

    /// A login always needs a name and a password.
    public var renews: Bool { false }
}

extension SharedLogins.Session where Gain == CookieJar {
    public var jar: CookieJar { gain }
}

extension CookieConversation: LoginTalk {}
