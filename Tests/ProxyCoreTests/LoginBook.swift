import Authorization
import ProxyCore

/// A table of logins whose clock is the test's.
final class LoginBook: LoginStore, @unchecked Sendable {
    // one test's thread alone uses it
    var book = Lockout()
    var now = 0
    var ended: [Lockout.Verdict] = []
    private(set) var begun = 0
    /// AM refused these answers lately, whatever the book has.
    var isHeld = false

    func begin(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission {
        if isHeld { return .held(refusals: 3, milliseconds: 1_000) }
        let key = key(login)
        let permission = Self.permission(book.begin(key, limits, now: now), key)
        if case .go = permission { begun += 1 }
        return permission
    }

    func begin(again key: Lockout.Key, _ limits: Lockout.Limits) -> LoginPermission {
        if isHeld { return .held(refusals: 3, milliseconds: 1_000) }
        return Self.permission(book.begin(key, limits, again: true, now: now), key)
    }

    func pause(_ login: Login, _ limits: Lockout.Limits) -> LoginPermission? {
        if isHeld { return .held(refusals: 3, milliseconds: 1_000) }
        return book.pause(key(login), limits, now: now).map { Self.permission($0, key(login)) }
    }

    private func key(_ login: Login) -> Lockout.Key {
        Lockout.Key(
            answers: login.answers.reduce(0) { $0 &* 31 &+ UInt128($1) },
            session: login.inSession.reduce(0) { $0 &* 31 &+ UInt128($1) })
    }

    private static func permission(_ permission: Lockout.Permission, _ key: Lockout.Key) -> LoginPermission {
        switch permission {
        case .go: .go(key)
        case .later: .later
        case .held(let refusals, let milliseconds): .held(refusals: refusals, milliseconds: milliseconds)
        }
    }

    func grant(_ key: Lockout.Key, _ limits: Lockout.Limits) { book.grant(key, limits, now: now) }

    func end(_ key: Lockout.Key, _ verdict: Lockout.Verdict, granted: Bool, _ limits: Lockout.Limits) {
        ended.append(verdict)
        book.end(key, verdict, granted: granted, limits, now: now)
    }
}
