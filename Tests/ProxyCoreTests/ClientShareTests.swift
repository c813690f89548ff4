import Addresses
import Interception
import Passwords
import Testing

@testable import ProxyCore

/// A table for one loop.
private final class Shares: ShareStore, @unchecked Sendable {
    private var shares = ClientShares()
    /// How often.
    private(set) var asked = 0
    func change<Result>(_ body: (inout ClientShares) -> Result) -> Result {
        asked += 1
        return body(&shares)
    }
    var connections: Int { shares.connections }
    var bytes: Int { shares.bytes }
    var count: Int { shares.count }
}

@Suite("Shares of clients")
struct ClientShareTests {
    private let shares = Shares()
    private let one = ClientIdentity.network(AddressBlock(IPAddress(family: .v4, bits: 1)))
    private let two = ClientIdentity.network(AddressBlock(IPAddress(family: .v4, bits: 2)))

    private func limits(_ connections: Int = 4, _ perClient: Int = 2, _ buffered: Int = 1 << 20) -> Limits {
        var limits = Limits()
        limits.connections = connections
        limits.perClient = perClient
        limits.buffered = buffered
        return limits
    }

    private func share(_ client: ClientIdentity?, _ limits: Limits) -> ClientShares.Refusal? {
        do throws(ClientShares.Refusal) {
            _ = try ConnectionShare(shares, for: client, limits)
            return nil
        } catch {
            return error
        }
    }

    @Test func aClientHasItsShareAndAllHaveTheirs() throws {
        var taken = [try ConnectionShare(shares, for: one, limits()), try ConnectionShare(shares, for: one, limits())]
        #expect(share(one, limits()) == .client && share(two, limits()) == nil)
        taken.append(try ConnectionShare(shares, for: two, limits()))
        // who is not known yet counts among all
        taken.append(try ConnectionShare(shares, for: nil, limits()))
        #expect(share(two, limits()) == .all && share(nil, limits()) == .all && shares.connections == 4)
        taken.removeFirst()
        #expect(share(one, limits()) == nil)
        taken = []
        #expect(shares.connections == 0 && shares.count == 0)
    }

    @Test func theShareIsAPartOfAll() {
        #expect(Limits().perClient == 1024 && Limits().connections == 4096)
        for (all, share) in [(8, 64), (256, 64), (400, 100), (4096, 1024), (1_000_000, 250_000)] {
            #expect(Limits.share(of: all) == share)
        }
    }

    @Test func whoIsKnownBetterIsCountedAsThat() throws {
        let first = try ConnectionShare(shares, for: nil, limits(9))
        #expect(first.becomes(one, limits()) && shares.count == 1)
        // again and again, as every request shows its password
        for _ in 0..<9 { #expect(first.becomes(.user("alice"), limits())) }
        let second = try ConnectionShare(shares, for: one, limits(9))
        let third = try ConnectionShare(shares, for: one, limits(9))
        #expect(second.becomes(.user("alice"), limits()) && !third.becomes(.user("alice"), limits()))
        // it counts as whose it was
        #expect(share(one, limits(9)) == nil && shares.count == 2)
        let fourth = try ConnectionShare(shares, for: one, limits(9))
        #expect(share(one, limits(9)) == .client)
        withExtendedLifetime((first, second, third, fourth)) {}
    }

    @Test func aClientsStreamsCountOverAllItsConnections() throws {
        let limits = limits(9, 9)
        let first = try ConnectionShare(shares, for: one, limits)
        let second = try ConnectionShare(shares, for: one, limits)
        // the first of each has its room with the connection
        #expect(first.begin(1, 3) && second.begin(1, 3))
        #expect(first.begin(2, 3) && first.begin(3, 3) && second.begin(2, 3) && !second.begin(3, 3))
        #expect(!first.begin(4, 3))
        let other = try ConnectionShare(shares, for: two, limits)
        #expect(other.begin(4, 3) && !other.begin(5, 3))
        first.end(0)
        #expect(second.begin(4, 3) && first.begin(1, 3) && !first.begin(2, 3))
        // what a connection has goes along with it, and back when it goes
        #expect(second.becomes(.user("alice"), limits))
        #expect(first.begin(4, 3) && second.begin(4, 3) && !second.begin(5, 3))
        withExtendedLifetime((first, second, other)) {}
        let unknown = try ConnectionShare(shares, for: nil, limits)
        #expect(unknown.begin(1_000, 3))
    }

    @Test func whatAConnectionDoesNotNeedAnyMoreIsThereForOthers() throws {
        let limits = limits(9, 9)
        let first = try ConnectionShare(shares, for: one, limits)
        let second = try ConnectionShare(shares, for: one, limits)
        #expect(first.begin(60, 64) && !second.begin(10, 64))
        // two are under way still
        first.end(2)
        #expect(second.begin(40, 64))
        // a piece stays for those to come, so that not each of them has to ask
        let before = shares.asked
        for _ in 0..<9 {
            #expect(first.begin(9, 64))
            first.end(8)
        }
        #expect(shares.asked == before)
        withExtendedLifetime((first, second)) {}
    }

    private let exchange = ExchangeID(1)

    @Test func eachExchangeOfAConnectionHoldsItsOwn() throws {
        let limits = limits(9, 9, 400 << 10)
        let share = try ConnectionShare(shares, for: one, limits)
        let other = ExchangeID(2)
        #expect(share.hold(30 << 10, of: exchange, limits) && share.hold(30 << 10, of: other, limits))
        #expect(shares.bytes == 64 << 10)
        share.letGo(of: exchange)
        share.letGo(of: exchange)
        #expect(shares.bytes == 32 << 10)
        share.letGo()
        #expect(shares.bytes == 0)
    }

    @Test func bytesHaveABudget() throws {
        let limits = limits(9, 9, 400 << 10)
        let a = try ConnectionShare(shares, for: one, limits)
        let b = try ConnectionShare(shares, for: one, limits)
        let c = try ConnectionShare(shares, for: two, limits)
        #expect(a.hold(ConnectionShare.small, of: exchange, limits) && shares.bytes == 0, "small ones cost no lock")
        #expect(a.hold(100 << 10, of: exchange, limits) && shares.bytes == 128 << 10)
        #expect(
            a.hold(50 << 10, of: exchange, limits) && shares.bytes == 128 << 10, "room is kept until nothing is held")
        #expect(
            b.hold(64 << 10, of: exchange, limits) && !b.hold(100 << 10, of: exchange, limits),
            "half of it is one client's")
        #expect(shares.bytes == 192 << 10)
        #expect(c.hold(190 << 10, of: exchange, limits) && !c.hold(210 << 10, of: exchange, limits))
        a.letGo()
        #expect(
            shares.bytes == (64 + 192) << 10 && !b.hold(200 << 10, of: exchange, limits)
                && b.hold(144 << 10, of: exchange, limits))
    }

    @Test func bytesGoAlongAndGoBack() throws {
        let limits = limits(9, 9, 400 << 10)
        var taken = [try ConnectionShare(shares, for: nil, limits)]
        #expect(taken[0].hold(380 << 10, of: exchange, limits), "whose it is nobody knows")
        #expect(taken[0].becomes(one, limits) && taken[0].becomes(.user("alice"), limits))
        #expect(shares.bytes == 384 << 10)
        taken = []
        #expect(shares.bytes == 0 && shares.count == 0 && shares.connections == 0)
    }

    // MARK: on a connection

    private func talk(
        _ settings: Settings, source: ClientSource = ClientSource(address: IPAddress("192.0.2.1")),
        client: ClientIdentity? = .network(AddressBlock(IPAddress(family: .v4, bits: 0xC000_0201)))
    ) throws -> Conversation {
        Conversation(settings, source: source, share: try ConnectionShare(shares, for: client, settings.limits))
    }

    @Test(arguments: [false, true])
    func aBalancersClientIsCountedWhenItIsKnown(_ isSecure: Bool) throws {
        let settings = settings { $0.limits.perClient = 1 }
        let source = ClientSource(
            address: IPAddress("10.0.0.1"), isSecure: isSecure,
            balancer: ClientPolicy(allow: [.block(try #require(AddressBlock("192.0.2.0/24")))]))
        let held = try ConnectionShare(
            shares, for: .network(try #require(AddressBlock("192.0.2.1"))), settings.limits)
        let talk = try talk(settings, source: source, client: nil)
        talk.client("PROXY TCP4 192.0.2.1 192.0.2.9 4000 3128\r\n")
        #expect(talk.clientGot().contains("limits.per_client") != isSecure)
        #expect(talk.noted("limits.per_client") && talk.driver.records.count == 1)
        #expect(talk.driver.client == (isSecure ? .closed : .finished))
        let other = try self.talk(settings, source: source, client: nil)
        other.client("PROXY TCP4 192.0.2.2 192.0.2.9 4000 3128\r\n")
        #expect(other.driver.records.isEmpty && other.driver.client == .open)
        withExtendedLifetime(held) {}
    }

    @Test func aUserIsCountedWhereverItComesFrom() throws {
        var asking = PasswordTests.asking
        asking.limits.perClient = 1
        let request = "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nProxy-Authorization: Basic YWxpY2U6eA==\r\n\r\n"
        let first = try talk(asking)
        for _ in 0..<2 {
            first.client(request)
            first.driver.checked(.right)
            if first.driver.dialing != nil { first.connects() }
            first.origin(ok)
            #expect(first.record.status == 200)
        }
        // its address has room for others
        let second = try talk(asking)
        second.client(request)
        second.driver.checked(.right)
        let got = second.clientGot()
        #expect(got.hasPrefix("HTTP/1.1 503 ") && got.contains("the user alice") && got.contains("limits.per_client"))
        #expect(second.driver.client == .finished && second.driver.dials == 0)
    }

    // MARK: what is kept

    private func post(_ count: Int) -> String {
        "POST http://shop.test/api/ HTTP/1.1\r\nHost: shop.test\r\nContent-Length: \(count)\r\n\r\n"
    }

    @Test(arguments: Delivery.all)
    func bodiesTakeRoom(_ delivery: Delivery) throws {
        var settings = stepUpSettings()
        settings.limits.buffered = 128 << 10
        let body = String(repeating: "x", count: 40_000)
        let first = try talk(settings)
        first.client(post(40_001) + body)
        #expect(shares.bytes == 64 << 10 && first.driver.dialing == nil)
        let second = try talk(settings)
        second.client(post(40_001) + body)
        #expect(second.driver.dialing != nil && second.clientGot() == "")
        first.client("x")
        first.connects()
        #expect(first.originGot().hasSuffix("xx") && shares.bytes == 64 << 10, "it may have to be sent again")
        first.origin(ok)
        #expect(first.clientGot() == okForClient && shares.bytes == 0)
    }

    /// What cannot be kept is sent on as it comes, like what is too large to be kept, and an advice is the client's own.
    @Test(arguments: Delivery.all)
    func aBodyWithoutRoomIsStreamed(_ delivery: Delivery) throws {
        var settings = stepUpSettings()
        settings.limits.buffered = 128 << 10
        let held = try ConnectionShare(shares, for: .user("x"), settings.limits)
        let more = try ConnectionShare(shares, for: .user("y"), settings.limits)
        #expect(held.hold(60_000, of: exchange, settings.limits) && more.hold(60_000, of: exchange, settings.limits))
        let body = String(repeating: "x", count: 40_000)
        let fields = "POST http://shop.test/api/pay HTTP/1.1\r\nHost: shop.test\r\n\(SteppingUp.session)\r\n"
        for (framing, sent) in [
            ("Content-Length: 40000\r\n\r\n", body), ("Expect: 100-continue\r\nContent-Length: 40000\r\n\r\n", body),
            ("Transfer-Encoding: chunked\r\n\r\n", "9c40\r\n\(body)\r\n0\r\n\r\n"),
        ] {
            let talk = Conversation(
                settings, delivery: delivery, share: try ConnectionShare(shares, for: .user("z"), settings.limits))
            talk.client(fields + framing + sent)
            talk.connects()
            let got = talk.originGot()
            #expect(got.count { $0 == "x" } >= 40_000 && !got.contains("x-authenticate-response"))
            #expect(!got.contains("Expect") && (got.contains("chunked") || got.contains("Length: 40000")))
            talk.origin(SteppingUp.refused())
            #expect(talk.clientGot().hasSuffix(SteppingUp.original()) && talk.driver.dials == 1)
            #expect(talk.noted("limits.buffered") && talk.noted("was not kept") && talk.record.status == 401)
            #expect(shares.bytes == 128 << 10)
        }
        withExtendedLifetime((held, more)) {}
    }

    @Test func aBodyThatGoesOutLetsGoOfItsRoom() throws {
        var settings = stepUpSettings()
        settings.limits.buffered = 192 << 10
        let first = try talk(settings)
        first.client(post(40_001) + String(repeating: "x", count: 40_000))
        let second = try talk(settings)
        second.client(post(60_000) + String(repeating: "x", count: 30_000))
        #expect(shares.bytes == 96 << 10 && second.driver.dialing == nil)
        second.client(String(repeating: "x", count: 10_000))
        second.connects()
        #expect(shares.bytes == 64 << 10 && second.originGot().hasSuffix("xxxx"))
    }

    @Test func answersTakeRoom() throws {
        var settings = stepUpSettings()
        settings.limits.buffered = 128 << 10
        let held = try ConnectionShare(shares, for: .user("x"), settings.limits)
        let more = try ConnectionShare(shares, for: .user("y"), settings.limits)
        #expect(held.hold(60_000, of: exchange, settings.limits) && more.hold(60_000, of: exchange, settings.limits))
        let talk = try talk(settings)
        talk.client("GET http://shop.test/api/ HTTP/1.1\r\nHost: shop.test\r\n\r\n")
        talk.connects()
        let body = String(repeating: "{", count: 50_000)
        talk.origin("HTTP/1.1 401 No\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n" + body)
        // it is delivered, and the log says why nobody looked at it
        #expect(talk.record.status == 401 && talk.clientGot().hasSuffix(body))
        withExtendedLifetime((held, more)) {}
    }

    /// What a step-up keeps for the replay counts while AM is asked.
    @Test func answersOfAMTakeRoomBesideTheBody() throws {
        var settings = stepUpSettings()
        settings.limits.buffered = 128 << 10
        let talk = try talk(settings)
        let fields = "POST http://shop.test/api/ HTTP/1.1\r\nHost: shop.test\r\n\(SteppingUp.session)\r\n"
        talk.client(fields + "Content-Length: 40000\r\n\r\n" + String(repeating: "x", count: 40_000))
        talk.connects()
        talk.origin(SteppingUp.refused())
        talk.connects()
        talk.origin("HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n" + String(repeating: " ", count: 40_000))
        #expect(talk.noted("the response cannot be kept") && talk.clientGot() == SteppingUp.original())
        #expect(shares.bytes == 0)
    }

    @Test func nothingStaysReservedWhenTheClientGoes() throws {
        let talk = try talk(stepUpSettings())
        talk.client(post(100_000) + String(repeating: "x", count: 60_000))
        #expect(shares.bytes == 64 << 10)
        talk.driver.clientEnds()
        #expect(shares.bytes == 0 && talk.driver.isOver)
    }

    @Test func noBodyIsKeptBeyondItsLimit() throws {
        var settings = stepUpSettings()
        settings.limits.bufferedBody = 1_000
        let talk = Conversation(settings)
        talk.client(post(1_001) + "x")
        talk.connects()
        #expect(talk.originGot().hasSuffix("\r\n\r\nx"), "it goes out as it comes")
        let kept = Conversation(settings)
        kept.client(post(1_000) + "x")
        #expect(kept.driver.dialing == nil)
    }
}
