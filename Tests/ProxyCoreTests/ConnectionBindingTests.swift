import Formats
import Interception
import Passwords
import Testing

@testable import ProxyCore

@Suite("Connections that carry an identity")
struct ConnectionBindingTests {
    private let challenge = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n"
    private func get(_ host: String = "a.test", _ fields: String = "") -> String {
        "GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n"
    }

    @Test func whoIsAnotherUserLosesThem() {
        var binding = ConnectionBinding()
        var passed = [binding.passes(to: "alice")]
        binding.bind(for: "alice")
        passed += [binding.passes(to: "alice"), binding.passes(to: "bob"), binding.passes(to: "alice")]
        binding.bind(for: nil)
        passed += [binding.passes(to: nil), binding.passes(to: "alice")]
        #expect(passed == [false, false, true, false, false, true])
    }

    @Test func aChallengeLeavesTheConnectionToTheClientAlone() {
        let pool = LinkPool()
        let talk = Conversation(pool: pool)
        talk.exchange(get(), challenge)
        #expect(talk.clientGot().contains("Proxy-Support: Session-Based-Authentication\r\n"))
        #expect(pool.count == 0 && talk.driver.bound.count == 1)
        let other = Conversation(pool: pool)
        other.client(get())
        #expect(other.driver.dialing != nil)
        // the rest of the handshake goes the same way, and what follows it
        for fields in ["Authorization: NTLM TlRM\r\n", ""] {
            talk.client(get("a.test", fields))
            #expect(talk.driver.dials == 1)
            talk.origin(ok)
        }
        #expect(!talk.clientGot().contains("Proxy-Support"))
        #expect(pool.count == 0 && talk.driver.bound.count == 1)
    }

    @Test(arguments: ["Persistent-Auth: true", "Proxy-Authenticate: Negotiate", "WWW-Authenticate: Negotiate oRQw"])
    func whatAnAnswerSaysOfTheConnection(_ field: String) {
        let pool = LinkPool()
        let talk = Conversation(pool: pool)
        talk.exchange(get(), "HTTP/1.1 200 OK\r\n\(field)\r\nContent-Length: 0\r\n\r\n")
        #expect(pool.count == 0 && talk.driver.bound.count == 1)
    }

    @Test(arguments: ["Basic realm=x", "Bearer", "Digest realm=x"])
    func aChallengeForEachRequestBindsNothing(_ value: String) {
        let pool = LinkPool()
        let talk = Conversation(pool: pool)
        talk.exchange(get(), "HTTP/1.1 401 No\r\nWWW-Authenticate: \(value)\r\nContent-Length: 0\r\n\r\n")
        #expect(pool.count == 1 && talk.driver.bound.count == 0)
        #expect(!talk.clientGot().contains("Proxy-Support"))
    }

    @Test func credentialsGoOutOnNoConnectionThatServedAnother() {
        let pool = LinkPool()
        Conversation(pool: pool).exchange(get(), ok)
        #expect(pool.count == 1)
        let talk = Conversation(pool: pool)
        talk.client(get("a.test", "Authorization: Negotiate YII=\r\n"))
        #expect(talk.driver.dialing != nil && pool.count == 1)
        talk.connects()
        talk.origin(ok)
        #expect(pool.count == 1 && talk.driver.bound.count == 1)
        // without them, too, it is the client's own connection that is used
        talk.client(get())
        #expect(talk.driver.dialing == nil && pool.count == 1)
    }

    /// In HTTP/2 a connection is many clients'.
    @Test func credentialsGoOutInHTTP1WhereTheOriginMayChoose() {
        for (fields, expected) in [("Authorization: Negotiate YII=\r\n", LeaseVersion.oldest), ("", .any)] {
            var out = CommandBuffer()
            var connection = ClientConnection(engine: Engine(Settings()), client: "192.0.2.1:1", now: 0)
            connection.received(Array(get("a.test", fields).utf8).span, now: 0, &out)
            var versions: [LeaseVersion] = []
            for case .lease(_, _, _, let version) in out.commands { versions.append(version) }
            #expect(versions == [expected])
        }
    }

    @Test func eachOriginHasItsOwn() {
        let talk = Conversation()
        talk.exchange(get(), challenge)
        talk.exchange(get("b.test"), ok)
        #expect(talk.driver.bound.count == 1 && talk.driver.pool.count == 1)
    }

    @Test func whatAnInterceptorAddsCountsLikewise() {
        let rules = [Rule(name: "sso", request: [SetHeader([.init("Authorization", "Negotiate YII=")])])]
        let pool = LinkPool()
        Conversation(pool: pool).exchange(get(), ok)
        let talk = Conversation(settings { $0.rules = rules }, pool: pool)
        talk.client(get())
        #expect(talk.driver.dialing != nil)
        talk.connects()
        talk.origin(ok)
        #expect(talk.driver.bound.count == 1 && pool.count == 1)
    }

    @Test func anotherUserOnTheSameConnectionInheritsNothing() {
        let hash = "$2y$05$abcdefghijklmnopqrstuu12xgx35XzVimpLAARVsY.qvjwFuB00y"
        let talk = Conversation(
            settings {
                $0.users = PasswordTable(htpasswd: "alice:\(hash)\nbob:\(hash)\n") { line, _ in
                    Issue.record("line \(line)")
                }
            })
        func ask(_ user: String) {
            talk.client(get("a.test", "Proxy-Authorization: Basic \(Base64.encode("\(user):x".utf8))\r\n"))
            talk.driver.checked(.right)
        }
        ask("alice")
        talk.connects()
        talk.origin(challenge)
        ask("alice")
        #expect(talk.driver.dials == 1)
        talk.origin(ok)
        ask("bob")
        #expect(talk.driver.dialing != nil && talk.driver.bound.count == 0)
    }
}
