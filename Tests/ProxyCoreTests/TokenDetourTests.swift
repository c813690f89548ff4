import Authorization
import HTTPCodec
import Interception
import Testing

@testable import ProxyCore

/// Tokens on the way of an exchange, beside a step-up.
@Suite struct TokenDetourTests {
    private func begin(
        _ settings: Settings = Settings(), _ request: String = SteppingUp.get,
        _ change: (inout TokenSettings) -> Void = { _ in }
    ) -> Conversation {
        var settings = settings
        var entry = TokenSettings(
            resources: ["http://shop.test/api/*"], manner: .clientCredentials, server: server)
        entry.client = OAuthClient(id: "shop", secret: "s", authentication: .basic)
        change(&entry)
        settings.tokens = TokenPolicy([TokenSource(entry)])
        let talk = Conversation(settings, tokens: DryLogins<TokenGrant>())
        talk.driver.tell(time: 1_000_000)
        talk.client(request)
        talk.connects()
        return talk
    }

    private func granted(_ token: String) -> String { SteppingUp.json("{\"access_token\":\"\(token)\"}") }

    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let unauthorized = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno"

    @Test func aTokenIsFetchedFirst() {
        let talk = begin()
        let asked = talk.originGot()
        #expect(asked.hasPrefix("POST /am/oauth2/realms/root/access_token HTTP/1.1\r\n"), "\(talk.notes)")
        #expect(asked.contains("Authorization: Basic c2hvcDpz\r\n") && asked.hasSuffix("grant_type=client_credentials"))
        talk.origin(granted("a"))
        talk.connects()
        #expect(talk.originGot().contains("Authorization: Bearer a\r\n"))
        talk.origin(Self.ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 OK\r\n") && talk.noted("it tells no end"), "\(talk.notes)")
        talk.client(SteppingUp.get)
        #expect(talk.originGot().contains("Authorization: Bearer a\r\n"))
    }

    /// What is sent again after a step-up has the token, and one that is over by then is renewed on top.
    @Test func besideAStepUp() {
        let talk = begin(stepUpSettings())
        talk.origin(granted("a"))
        talk.connects()
        talk.origin(SteppingUp.refused())
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /am/json/"), "\(talk.notes)")
        talk.origin(SteppingUp.success)
        talk.connects()
        let replay = talk.originGot()
        #expect(replay.contains("_txid=t-1") && replay.contains("Authorization: Bearer a\r\n"), "\(replay)")
        talk.origin(Self.unauthorized)
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /am/oauth2/"), "\(talk.notes)")
        talk.origin(granted("b"))
        talk.connects()
        let again = talk.originGot()
        #expect(again.contains("_txid=t-1") && again.contains("Authorization: Bearer b\r\n"), "\(again)")
        talk.origin(Self.ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 OK\r\n"), "\(talk.notes)")
    }

    @Test func aFetchThatTakesTooLong() {
        let talk = begin()
        #expect(talk.originGot().hasPrefix("POST /am/oauth2/"))
        talk.driver.waits(30_001)
        talk.connects()
        let sent = talk.originGot()
        #expect(sent.hasPrefix("GET /api/cart ") && !sent.contains("Authorization"), "\(talk.notes)")
        talk.origin(Self.ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 OK\r\n") && talk.noted("longer than hold allows"))
    }

    @Test func noAttemptIsLeftForARenewal() {
        var settings = Settings()
        settings.limits.retries = 0
        let talk = begin(settings)
        talk.origin(granted("a"))
        talk.connects()
        talk.origin(Self.unauthorized)
        talk.connects()
        talk.origin(granted("b"))
        #expect(talk.clientGot().hasSuffix("\r\n\r\nno") && talk.noted("limits.retries"), "\(talk.notes)")
    }

    /// A body that was not kept is not sent twice; the next request has another token.
    @Test func aBodyThatIsTooLarge() {
        var settings = Settings()
        settings.limits.bufferedBody = 64
        let post = "POST http://shop.test/api/cart HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 80\r\n\r\n"
        let talk = begin(settings, post + String(repeating: "x", count: 80))
        talk.origin(granted("a"))
        talk.connects()
        talk.origin(Self.unauthorized)
        #expect(talk.clientGot().hasSuffix("\r\n\r\nno") && talk.noted("was not kept"), "\(talk.notes)")
        talk.client(SteppingUp.get)
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /am/oauth2/"), "\(talk.notes)")
    }
}
