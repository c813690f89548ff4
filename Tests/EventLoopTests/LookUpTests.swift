import Testing

@testable import EventLoop

@Suite("Looking names up", .timeLimit(.minutes(1)))
struct LookUpTests {
    private static let four: [UInt8] = [192, 0, 2, 1]
    private static let six = [UInt8](repeating: 1, count: 16)
    private static let fourAddress = SocketAddress(address: four, port: 0)
    private static let sixAddress = SocketAddress(address: six, port: 0)

    private static func found(_ addresses: [[UInt8]], life: UInt32 = 60, name: [UInt8] = [1, 0x61]) -> DNSAnswer {
        DNSAnswer(name: name, addresses: addresses, timeToLive: life)
    }

    /// A service that knows nothing but what it is given.
    private static func service(
        listed: [SocketAddress] = [], four: DNSAnswer? = nil, six: DNSAnswer? = nil, system: [SocketAddress]? = nil
    ) -> NameService {
        NameService(
            listed: { _ in listed }, query: { _, type in type == .a ? four : six },
            system: { _ in system.map { .success($0) } ?? .failure(.init(reason: "nothing known")) })
    }

    /// Asks once and collects the answers up to the last one.
    private func answers(_ names: NameService, limit: Int = .max) throws -> [Resolver.Answer] {
        let asker = try Asker()
        try Resolver(threads: 2, capacity: 8, names: names).resolve("a", limit: limit, reply: asker.mailbox)
        return asker.answers(1)
    }

    /// A loop that waits for answers.
    private final class Asker {
        let mailbox: Mailbox<Resolver.Answer>
        private let loop: Loop
        private var port: MailboxPort<Resolver.Answer>?
        private var got: [Resolver.Answer] = []

        init() throws {
            mailbox = try Mailbox()
            loop = try Loop()
            port = try MailboxPort(loop: loop, mailbox) { [unowned self] in got.append($0) }
        }

        func answers(_ questions: Int) -> [Resolver.Answer] {
            while got.count(where: \.isComplete) < questions { loop.turn() }
            return got
        }
    }

    @Test func theHostsFileComesFirst() throws {
        let names = Self.service(listed: [Self.sixAddress], four: Self.found([Self.four]))
        #expect(try answers(names) == [.init(host: "a", addresses: [Self.sixAddress], timeToLive: 5)])
    }

    @Test func bothFamilies() throws {
        let names = Self.service(four: Self.found([Self.four], life: 10), six: Self.found([Self.six], life: 20))
        let got = try answers(names)
        #expect(got.map(\.isComplete) == [false, true] && got.allSatisfy { $0.failure == nil })
        #expect(Set(got.flatMap(\.addresses)) == [Self.fourAddress, Self.sixAddress])
        #expect(Set(got.map(\.timeToLive)) == [10, 20])
    }

    @Test(arguments: [nil, found([])])
    func oneFamily(_ nothing: DNSAnswer?) throws {
        let got = try answers(Self.service(four: Self.found([Self.four]), six: nothing))
        #expect(got.flatMap(\.addresses) == [Self.fourAddress] && got.last?.isComplete == true)
        #expect(got.allSatisfy { $0.failure == nil })
    }

    @Test func oneFamilyIsToldBeforeTheOtherIsKnown() throws {
        let gate = Locked(false)
        let names = NameService(
            listed: { _ in [] },
            query: { _, type in
                if type == .a { return Self.found([Self.four]) }
                return gate.wait { $0 ? Self.found([Self.six]) : nil }
            }, system: { _ in .failure(.init(reason: "not asked")) })
        let mailbox = try Mailbox<Resolver.Answer>()
        let loop = try Loop()
        var got: [Resolver.Answer] = []
        let port = try MailboxPort(loop: loop, mailbox) { answer in
            got.append(answer)
            gate.signal { $0 = true }
        }
        try Resolver(threads: 2, capacity: 8, names: names).resolve("a", limit: .max, reply: mailbox)
        while got.last?.isComplete != true { loop.turn() }
        withExtendedLifetime(port) {}
        #expect(got.map(\.addresses) == [[Self.fourAddress], [Self.sixAddress]])
    }

    @Test func twoHostsOfTheSearchListAreNotMixed() throws {
        let names = Self.service(
            four: Self.found([Self.four], name: [1, 0x61]), six: Self.found([Self.six], name: [1, 0x62]))
        let got = try answers(names)
        #expect(got.flatMap(\.addresses).count == 1 && got.last?.isComplete == true)
    }

    @Test func whatElseTheSystemKnows() throws {
        let got = try answers(Self.service(system: [Self.fourAddress]))
        #expect(got == [.init(host: "a", addresses: [Self.fourAddress], timeToLive: 5)])
        let nothing = try answers(Self.service())
        #expect(nothing.map(\.failure) == [.unknown("nothing known")])
    }

    @Test func whoHasWaitedTooLongIsNotLookedUp() throws {
        let got = try answers(Self.service(listed: [Self.fourAddress]), limit: Loop.monotonicMilliseconds())
        #expect(got.map(\.failure) == [.overloaded])
    }

    @Test func theQueueHasAnEnd() throws {
        let gate = Locked(false)
        let isBusy = Locked(false)
        let names = NameService(
            listed: { _ in
                isBusy.signal { $0 = true }
                return gate.wait { $0 ? [Self.fourAddress] : nil }
            }, query: { _, _ in nil }, system: { _ in .failure(.init(reason: "")) })
        let asker = try Asker()
        let resolver = try Resolver(threads: 1, capacity: 3, names: names)
        resolver.resolve("0", limit: .max, reply: asker.mailbox)
        _ = isBusy.wait { $0 ? true : nil }
        for number in 1...4 { resolver.resolve("\(number)", limit: .max, reply: asker.mailbox) }
        #expect(asker.answers(1).map(\.host) == ["4"] && asker.answers(1).map(\.failure) == [.overloaded])
        gate.signal { $0 = true }
        #expect(asker.answers(5).dropFirst().map(\.host) == ["0", "1", "2", "3"])
        #expect(asker.answers(5).dropFirst().allSatisfy { $0.failure == nil })
    }
}
