import Glibc
import Testing

@testable import TLSEngine

@Suite("A stream of TLS over memory")
struct StreamTests {
    private let hello = Array("hello".utf8)

    @Test(arguments: [Int.max, 1, 7, 1_000])
    func bytesGoBothWays(_ piece: Int) throws {
        let talk = try World().conversation()
        talk.piece = piece
        talk.talk()
        #expect(talk.client.state == .open && talk.server.state == .open)
        #expect(talk.send(hello, fromClient: true) && talk.send(Array(hello.reversed()), fromClient: false))
        talk.talk()
        #expect(talk.heardByServer == hello && talk.heardByClient == hello.reversed())
        let negotiated = try #require(talk.server.negotiated)
        #expect(negotiated.version == "TLSv1.3" && negotiated.spoken == .http11 && !negotiated.isResumed)
        #expect(talk.client.negotiated?.cipher == negotiated.cipher)
    }

    @Test func muchGoesInManyRecords() throws {
        let talk = try World().conversation()
        talk.talk()
        let much = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(talk.send(much, fromClient: false))
        talk.piece = 50_000
        talk.talk()
        #expect(talk.heardByClient == much)
    }

    @Test func nothingIsSentBeforeTheHandshake() throws {
        let talk = try World().conversation()
        #expect(!talk.send(hello, fromClient: true) && talk.client.negotiated == nil)
        talk.talk()
        #expect(talk.send(hello, fromClient: true))
    }

    @Test func whoEndsSaysSoAndMayStillListen() throws {
        let talk = try World().conversation()
        talk.talk()
        #expect(talk.send(hello, fromClient: true))
        talk.finish(fromClient: true)
        talk.talk()
        #expect(talk.server.state == .ended && talk.heardByServer == hello)
        #expect(talk.send(hello, fromClient: false))
        talk.talk()
        #expect(talk.heardByClient == hello && talk.client.state == .open)
        talk.finish(fromClient: false)
        talk.talk()
        #expect(talk.client.state == .ended)
    }

    @Test func aRecordThatWasChangedIsNotDelivered() throws {
        let talk = try World().conversation()
        talk.talk()
        #expect(talk.send(hello, fromClient: true))
        talk.wayToServer[7] ^= 1
        talk.talk()
        guard case .failed(let fault) = talk.server.state else {
            Issue.record("\(talk.server.state)")
            return
        }
        #expect(
            fault.kind == .protocolError && fault.words.hasPrefix("what it sent breaks TLS: ")
                && talk.heardByServer.isEmpty)
        // the other side is told, and nothing more goes through
        #expect(talk.client.state == .failed(TLSFault(.alert(20), "it sent the TLS alert 20 (bad_record_mac)")))
        #expect(!talk.send(hello, fromClient: false))
    }

    @Test func whatIsNoTLSIsToldFromWhatBreaksIt() throws {
        let talk = try World().conversation()
        talk.wayToServer = Array("GET / HTTP/1.1\r\n\r\n".utf8)
        talk.talk()
        guard case .failed(let fault) = talk.server.state else {
            Issue.record("\(talk.server.state)")
            return
        }
        #expect(fault.words.hasPrefix("it does not speak TLS there: "))
    }

    @Test func aClientThatDoesNotTrustSaysSo() throws {
        let talk = try World(trusting: false).conversation()
        talk.talk()
        #expect(talk.server.state == .failed(TLSFault(.alert(48), "it sent the TLS alert 48 (unknown_ca)")))
        #expect(talk.server.hasShownItself && TLSFault.refusesCertificate(48))
    }

    // MARK: resumption

    /// A session that the server gave.
    private func session(_ world: World) throws -> TLSSession {
        let talk = try world.conversation()
        talk.talk()
        return try #require(talk.client.takeSession())
    }

    private func isResumed(_ world: World, _ session: TLSSession) throws -> Bool {
        let talk = try world.conversation(session: session)
        talk.talk()
        #expect(talk.client.state == .open && talk.server.negotiated?.isResumed == talk.client.negotiated?.isResumed)
        return talk.client.negotiated?.isResumed == true
    }

    @Test func aSecondConnectionResumes() throws {
        let world = try World()
        let session = try session(world)
        #expect(try isResumed(world, session))
    }

    @Test func ticketsOutliveOneChangeOfKeysAndNotTwo() throws {
        for (periods, expected) in [(0, true), (1, true), (2, false), (5_000, false)] {
            let world = try World()
            let session = try session(world)
            world.tickets.advance(now: time(nil) + periods * TicketKeys.period)
            #expect(try isResumed(world, session) == expected, "\(periods) periods")
        }
    }

    @Test func ringsOfOneSeedStepOnAlike() throws {
        let world = try World()
        let later = time(nil) + 3 * TicketKeys.period
        world.tickets.advance(now: later)
        let session = try session(world)
        let other = TicketKeys(seed: world.seed, now: world.began)
        other.advance(now: later)
        // a clock that goes back changes nothing
        other.advance(now: 0)
        let second = try World(world, tickets: other)
        #expect(try isResumed(second, session))
        let stranger = try World(world, tickets: TicketKeys(seed: try SecretBytes(random: 32), now: later))
        #expect(try !isResumed(stranger, session))
    }

    // MARK: certificates

    private func fault(_ world: World, _ talk: Conversation) throws -> TLSFault {
        talk.talk()
        guard case .failed(let fault) = talk.client.state else {
            throw Surprise(state: "\(talk.client.state)")
        }
        return fault
    }

    private struct Surprise: Error { let state: String }

    @Test func everyFaultOfACertificateHasItsWords() throws {
        let world = try World()
        let now = time(nil)
        let cases: [(Conversation, String)] = [
            (try world.conversation(showing: "a.test", asking: "b.test"), "names a.test and not b.test"),
            (try world.conversation(showing: "a.test", asking: "10.0.0.1"), "names a.test and not 10.0.0.1"),
            (try world.conversation(showing: "10.0.0.1", asking: "a.test"), "names 10.0.0.1 and not a.test"),
            (try world.conversation(made: now - 100 * 86_400), "its certificate expired on "),
            (try world.conversation(made: now + 10 * 86_400), "is valid from "),
            (try World(trusting: false).conversation(), "unknown issuer"),
        ]
        for (talk, words) in cases {
            let fault = try fault(world, talk)
            #expect(fault.kind == .certificate && fault.words.contains(words), "\(fault.words)")
            #expect(fault.words.contains("tls.upstream.hosts"))
        }
    }

    @Test(arguments: [
        ("10.0.0.1", "10.0.0.1"), ("::1", "::1"), ("*.a.test", "b.a.test"), ("a.test", "A.Test"), ("a.test", "a.test."),
    ])
    func namesThatFit(_ name: String, _ asked: String) throws {
        let talk = try World().conversation(showing: name, asking: asked)
        talk.talk()
        #expect(talk.client.state == .open)
    }

    @Test func whereNothingIsVerifiedAnythingGoes() throws {
        var demands = OriginDemands()
        demands.verifies = false
        let talk = try World(trusting: false).conversation(showing: "a.test", asking: "b.test", demands)
        talk.talk()
        #expect(talk.client.state == .open)
    }

    @Test(arguments: [true, false])
    func pinsHoldWhetherOrNotTheRestIsVerified(_ verifies: Bool) throws {
        let world = try World()
        var demands = OriginDemands()
        demands.verifies = verifies
        demands.pins = [[UInt8](repeating: 1, count: 32)]
        let fault = try fault(world, try world.conversation(demands))
        #expect(fault.kind == .certificate && fault.words.contains("pins") && fault.words.contains("sha256/"))
        let leaf = try world.authority.leaf(for: "a.test", key: world.key, now: time(nil))
        demands.pins.append(leaf.publicKeyDigest)
        let talk = try world.conversation(demands)
        talk.talk()
        #expect(talk.client.state == .open)
    }

    @Test func theServersChoiceIsSpoken() throws {
        let world = try World()
        for (offered, spoken, chosen) in [
            ([ApplicationProtocol.http2, .http11], [ApplicationProtocol.http2, .http11], ApplicationProtocol.http2),
            ([.http11, .http2], [.http2, .http11], .http2), ([.http2, .http11], [.http11], .http11),
            ([.http11], [.http2, .http11], .http11),
        ] {
            let talk = Conversation(
                client: try world.origins.stream(to: "a.test", OriginDemands(), session: nil, speaking: offered),
                server: try world.clients.stream(showing: world.leaf, speaking: spoken))
            talk.talk()
            #expect(talk.client.negotiated?.spoken == chosen && talk.server.negotiated?.spoken == chosen)
        }
        let talk = Conversation(
            client: try world.origins.stream(to: "a.test", OriginDemands(), session: nil, speaking: [.http2]),
            server: try world.clients.stream(showing: world.leaf, speaking: [.http11]))
        talk.talk()
        #expect(talk.client.negotiated == nil)
    }

    /// A certificate is public: whoever sends it has not shown its key.
    @Test func aPinThatIsMerelySentAlongProvesNothing() throws {
        let world = try World()
        let pinned = try PrivateKey.makeP256()
        let other = try world.authority.leaf(for: "a.test", key: pinned, now: world.began)
        let clients = try ServerContext(key: world.key, chain: [other], tickets: world.tickets)
        for verifies in [true, false] {
            var demands = OriginDemands()
            demands.verifies = verifies
            demands.pins = [other.publicKeyDigest]
            let talk = Conversation(
                client: try world.origins.stream(to: "a.test", demands, session: nil),
                server: try clients.stream(showing: world.leaf))
            #expect(try fault(world, talk).words.contains("pins"))
        }
    }

    /// OpenSSL takes no name for any name, and a dot before one for all names below it.
    @Test(arguments: ["", ".", ".test", ".a.test"])
    func aNameThatIsNoneIsNotAsked(_ name: String) throws {
        let world = try World()
        #expect(throws: TLSFault.self) { try world.origins.stream(to: name, OriginDemands(), session: nil) }
    }

    @Test func aClientThatKnowsTheRootByItsPredecessorAlone() throws {
        let world = try World()
        let new = try world.authority.rotated(constraints: nil, now: time(nil))
        let clients = try ServerContext(key: world.key, chain: new.chain, tickets: world.tickets)
        let leaf = try new.leaf(for: "a.test", key: world.key, now: time(nil))
        let talk = Conversation(
            client: try world.origins.stream(to: "a.test", OriginDemands(), session: nil),
            server: try clients.stream(showing: leaf))
        talk.talk()
        #expect(talk.client.state == .open)
    }

    // MARK: the key log

    @Test func keysAreToldWhereThatWasAskedFor() throws {
        let lines = Lines()
        let world = try World()
        let clients = try ServerContext(
            key: world.key, chain: [], tickets: world.tickets, keyLog: { lines.append($0) })
        let leaf = try world.authority.leaf(for: "a.test", key: world.key, now: time(nil))
        let talk = Conversation(
            client: try world.origins.stream(to: "a.test", OriginDemands(), session: nil),
            server: try clients.stream(showing: leaf))
        talk.talk()
        #expect(lines.all.contains { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0 ") })
    }

    private final class Lines: @unchecked Sendable {
        // one test, one thread
        var all: [String] = []
        func append(_ line: String) { all.append(line) }
    }
}
