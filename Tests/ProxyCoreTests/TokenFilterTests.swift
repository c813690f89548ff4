import Authorization
import Interception
import Testing

@testable import ProxyCore

/// Tokens on the way of an exchange, beside what holds for all that logins win.
@Suite struct TokenFilterTests {
    private func begin(
        _ settings: Settings = Settings(), request: String = SteppingUp.get,
        _ change: (inout TokenSettings) -> Void = { _ in }
    ) -> Conversation {
        var settings = settings
        settings.tokens = TokenPolicy([LoginScene.source(change)])
        return LoginScene.begin(settings, request)
    }

    private func granted(_ token: String) -> String { LoginScene.token.granted(token) }

    private func bound(_ token: String) -> String {
        SteppingUp.json("{\"access_token\":\"\(token)\",\"token_type\":\"DPoP\"}")
    }

    @Test func theClientShowsWhoItIs() {
        let asked = begin().originGot()
        #expect(asked.contains("Authorization: Basic c2hvcDpz\r\n") && asked.hasSuffix("grant_type=client_credentials"))
    }

    /// A code is the one session's that the request names, and nobody's where it may be read in several ways.
    @Test(arguments: [
        (["Cookie: iPlanetDirectoryPro=A"], true), (["Cookie: iPlanetDirectoryPro=A", "iPlanetDirectoryPro: A"], true),
        (["Cookie: iPlanetDirectoryPro=A; iPlanetDirectoryPro=B"], false),
        (["Cookie: iPlanetDirectoryPro=A", "Cookie: iPlanetDirectoryPro=B"], false),
        (["Cookie: iPlanetDirectoryPro=A", "iPlanetDirectoryPro: B"], false),
        (["Cookie: x=1, iPlanetDirectoryPro=B; iPlanetDirectoryPro=A"], false),
    ])
    func aCodeIsOneSessions(_ fields: [String], _ isAsked: Bool) {
        let lines = (["X-Client: c"] + fields).map { $0 + "\r\n" }.joined()
        let talk = begin(request: "GET http://shop.test/api/cart HTTP/1.1\r\nHost: shop.test\r\n\(lines)\r\n") {
            $0.manner = .code
            $0.naming = .header("X-Client")
        }
        let sent = talk.originGot()
        #expect(sent.contains("/oauth2/") == isAsked && sent.contains("Host: am.test\r\n") == isAsked, "\(sent)")
        guard !isAsked else { return }
        talk.origin(ok)
        #expect(!sent.contains("Authorization") && talk.clientGot().contains("200 OK"))
        #expect(talk.noted("the request names several sessions, or one that may be read in several ways"))
    }

    /// Nothing is fetched for whoever shows something itself.
    @Test func whoShowsSomethingItselfMeansIt() {
        let own = SteppingUp.get.replacing("\r\n\r\n", with: "\r\nAuthorization: Basic YTpi\r\n\r\n")
        let sent = begin(request: own).originGot()
        #expect(sent.hasPrefix("GET /api/cart ") && sent.contains("Authorization: Basic YTpi\r\n"), "\(sent)")
    }

    /// Nor where an interceptor shows something in its name.
    @Test func whatAnInterceptorShowsIsMeant() {
        var settings = Settings()
        settings.rules = [Rule(name: "own", request: [SetHeader([.init("Authorization", "Basic YTpi")])])]
        let sent = begin(settings).originGot()
        #expect(sent.hasPrefix("GET /api/cart ") && sent.contains("Authorization: Basic YTpi\r\n"), "\(sent)")
    }

    /// Usher's own session at one AM is no session at another, and goes to no other.
    @Test func aSessionOfAnotherServerWinsNoCode() {
        let other = AuthorizationServer(url: "http://other.test/am", host: "other.test", realms: ["/"])
        var settings = stepUpSettings {
            $0.sessions.source = .login
            $0.sessions.login.tree = "Robot"
            $0.sessions.login.answers = $0.answers
        }
        settings.servers.append(other)
        settings.tokens = TokenPolicy([
            LoginScene.source {
                $0.manner = .code
                $0.server = other
            }
        ])
        let model = SessionModel()
        let talk = model.client(settings, tokens: DryTokens())
        model.turn(talk)
        talk.client("GET http://shop.test/api/cart HTTP/1.1\r\nHost: shop.test\r\n\r\n")
        for answer in [SteppingUp.step, SteppingUp.json("{\"tokenId\":\"OWN\"}"), SteppingUp.json("{}")] {
            #expect(talk.driver.dialing?.host == "am.test")
            talk.connects()
            _ = talk.originGot()
            talk.origin(answer)
        }
        #expect(talk.driver.dialing?.host == "shop.test", "\(talk.notes)")
        talk.connects()
        let sent = talk.originGot()
        #expect(sent.contains("iPlanetDirectoryPro=OWN") && !sent.contains("Authorization"), "\(sent) \(talk.notes)")
    }

    // MARK: each sending has its own

    /// Edits persist, and the second attempt goes elsewhere.
    private static var retrying: Settings {
        var policy = RetryPolicy()
        policy.backoff = Backoff(first: 1)
        var settings = Settings()
        settings.chain.compatibility = .cdt
        settings.rules = [
            Rule(name: "again", when: .test(.status, [.exact("503")]), response: [Retry(policy)]),
            Rule(name: "away", when: .test(.header("X-Seen"), [.exact("1")]), request: [SetHost("staging.test")]),
            Rule(
                name: "seen", when: .test(.path, [.exact("/api/away")]),
                request: [SetHeader([.init("X-Seen", "1")])]),
        ]
        return settings
    }

    private static let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"

    @Test func aTokenDoesNotPersistWhereEditsDo() {
        let talk = begin(Self.retrying, request: "GET http://shop.test/api/away HTTP/1.1\r\nHost: shop.test\r\n\r\n")
        talk.origin(granted("a"))
        talk.connects()
        #expect(talk.originGot().contains("Authorization: Bearer a\r\n"))
        talk.origin(Self.busy)
        talk.driver.waits(1)
        talk.connects()
        let sent = talk.originGot()
        #expect(sent.contains("Host: staging.test\r\n") && !sent.contains("Authorization"), "\(sent) \(talk.notes)")
    }

    /// The attempt has a proof of its own, and a token that is over by then is renewed.
    @Test func eachAttemptIsProvedAndMayBeRenewed() {
        let talk = begin(Self.retrying) { $0.isProven = true }
        talk.origin(bound("a"))
        talk.connects()
        let first = talk.originGot()
        talk.origin(Self.busy)
        talk.driver.waits(1)
        talk.connects()
        let second = talk.originGot()
        #expect(proof(first) != proof(second) && !proof(second).isEmpty && second.contains("DPoP a\r\n"), "\(second)")
        talk.origin(LoginScene.unauthorized)
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /am/oauth2/"), "\(talk.notes)")
    }

    private func proof(_ sent: String) -> String {
        String(sent.split(separator: "\r\n").first { $0.hasPrefix("DPoP: ") } ?? "")
    }

    /// What proves one sending proves no other, whoever has the request sent once more.
    @Test func aPooledConnectionThatWentStale() {
        let talk = begin { $0.isProven = true }
        talk.origin(bound("a"))
        talk.connects()
        talk.origin(LoginScene.ok)
        talk.client(SteppingUp.get)
        let first = talk.originGot()
        talk.driver.originEnds()
        talk.connects()
        let second = talk.originGot()
        #expect(first.contains("Authorization: DPoP a\r\n") && second.contains("Authorization: DPoP a\r\n"))
        let proofs = [first, second].map(proof)
        #expect(proofs[0] != proofs[1] && proofs.allSatisfy { !$0.isEmpty })
        #expect(second.split(separator: "\r\n").count { $0.hasPrefix("DPoP: ") } == 1)
    }

    // MARK: refusals

    /// A path that always refuses has one token renewed, whatever its status says.
    @Test func whatRefusesEveryTokenIsAskedTwice() {
        let refusal = "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"
        let talk = begin { $0.refreshOn = [401, 403] }
        var calls = 1
        talk.origin(granted("a"))
        for _ in 0..<4 {
            talk.connects()
            talk.origin(refusal)
            talk.connects()
            if talk.originGot().hasPrefix("POST /am/oauth2/") {
                calls += 1
                talk.origin(granted("b"))
                talk.connects()
                talk.origin(refusal)
            }
            #expect(talk.clientGot().hasPrefix("HTTP/1.1 403 "), "\(talk.notes)")
            talk.client(SteppingUp.get)
        }
        #expect(calls == 2, "\(talk.notes)")
    }

    /// A nonce that is wanted behind a renewal is no refusal of the token.
    @Test func aNonceIsNoRefusal() {
        let wants =
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: DPoP error=\"use_dpop_nonce\"\r\nDPoP-Nonce: n1\r\n"
            + "Content-Length: 0\r\n\r\n"
        let talk = begin { $0.isProven = true }
        talk.origin(bound("a"))
        talk.connects()
        talk.origin(LoginScene.unauthorized)
        talk.connects()
        talk.origin(bound("b"))
        talk.connects()
        talk.origin(wants)
        talk.connects()
        talk.origin(LoginScene.ok)
        #expect(talk.clientGot().hasPrefix("HTTP/1.1 200 "), "\(talk.notes)")
        talk.client(SteppingUp.get)
        talk.connects()
        talk.origin(LoginScene.unauthorized)
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /am/oauth2/"), "\(talk.notes)")
    }
}
