public import Authorization
public import Interception

/// The cookies of logins: one jar for each login and origin.
public typealias CookieSessions = CredentialLedger<CookieJar>
public typealias CookieSessionStore = CredentialStore<CookieJar>

/// A login and the origin of its cookies.
public struct CookieLoginKey: CredentialKey {
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

extension CookieJar: Credential {
    /// The most jars; configurations rarely have as many logins and origins.
    public static var most: Int { 1024 }
    public static var mostUnderWay: Int { 64 }
    public static var notAgain: String {
        "a cookie that had just been won was refused as well, so no other is asked for yet (cool_down)"
    }

    /// A cookie without an expiry is valid.
    public func lasts(_ key: CookieLoginKey, at now: LoginTime) -> Bool { lasts(key, until: now.seconds) }

    public func isDue(_ key: CookieLoginKey, at now: LoginTime) -> Bool {
        !lasts(key, until: now.seconds + key.login.renewBefore)
    }

    private func lasts(_ key: CookieLoginKey, until seconds: Int) -> Bool {
        guard let found = self[key.login.cookie] else { return false }
        return found.expires.map { $0 > seconds } ?? true
    }
}

extension CredentialLedger.Kept where Value == CookieJar {
    public var jar: CookieJar { value }
}

extension CookieConversation: LoginTalk {}
