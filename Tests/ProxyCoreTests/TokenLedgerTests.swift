import Authorization
import Interception
import Testing

@testable import ProxyCore

/// Tokens that were won, beside what holds for all shared logins.
@Suite struct TokenLedgerTests {
    private var ledger = TokenLedger()
    private let source: TokenSource

    init() {
        let server = AuthorizationServer(url: "https://am.test/am", host: "am.test")
        source = TokenSource(
            TokenSettings(resources: ["https://api.test/*"], manner: .learned, server: server))
    }

    private func key(_ user: String = "ada") -> TokenKey { TokenKey(source, client: .user(user)) }

    private func now(_ seconds: Int = 0) -> LoginTime { .init(milliseconds: seconds * 1000, seconds: 1000 + seconds) }

    private func grant(_ access: String, refresh: String? = "r", lasts seconds: Int = 60) -> TokenGrant {
        var grant = TokenGrant(access: access, refresh: refresh, expires: 1000 + seconds, origin: .learned)
        grant.dueAt = 1000 + seconds / 2
        return grant
    }

    private mutating func ask(_ user: String = "ada", at seconds: Int = 0, not generation: Int? = nil) -> String {
        let refusal = generation.map { TokenLedger.Refusal(generation: $0, path: "/") }
        return switch ledger.ask(key(user), after: refusal, waited: nil, now(seconds)) {
        case .use(let session): "use \(session.gain.access)"
        case .logIn: "log in"
        case .wait: "wait"
        case .failed(let fault): fault.reason
        }
    }

    @Test mutating func eachClientHasItsOwn() {
        ledger.put(grant("a"), key("ada"), now())
        ledger.put(grant("b"), key("bob"), now())
        #expect(ask("ada") == "use a" && ask("bob") == "use b" && ask("eve") == "log in")
    }

    @Test mutating func whatIsDueIsRenewedByOneWhileTheOthersUseIt() {
        ledger.put(grant("a"), key(), now())
        #expect(ask(at: 29) == "use a" && ask(at: 30) == "log in" && ask(at: 30) == "use a")
    }

    /// The refresh token outlives what it came with.
    @Test(arguments: [("r", "a"), (nil, nil)] as [(String?, String?)])
    mutating func whatIsOverHelpsToWinAnother(refresh: String?, access: String?) {
        ledger.put(grant("a", refresh: refresh), key(), now())
        #expect(ask(at: 60) == "log in" && ledger.last(key())?.access == access)
    }

    @Test mutating func aRefusedOneIsRenewed() {
        ledger.put(grant("a"), key(), now())
        #expect(ask(not: 1) == "log in" && ledger.last(key())?.refresh == "r")
        ledger.won(grant("b"), key(), flight: 2)
        #expect(ask(not: 1) == "use b")
    }

    @Test mutating func whatTheClientWonTakesThePlaceOfALoginUnderWay() {
        #expect(ask() == "log in")
        ledger.put(grant("a"), key(), now())
        ledger.won(grant("late"), key(), flight: 1)
        #expect(ask() == "use a")
    }

    @Test mutating func whatIsForgottenIsGone() {
        for user in ["ada", "bob"] { ledger.put(grant(user), key(user), now()) }
        let gone = ledger.forget { key, grant in key.client == .user("ada") && grant.access == "ada" }
        #expect(gone.map(\.gain.access) == ["ada"])
        #expect(ask("ada") == "log in" && ask("bob") == "use bob" && ledger.last(key("ada")) == nil)
    }
}
