import Addresses
import EventLoop
import Glibc
import Passwords
import TLSEngine
import Testing

@testable import ProxyCore
@testable import ProxyDriver

@Suite("Checking passwords")
struct PasswordTests {
    /// `pass` at bcrypt's lowest cost.
    private let hash = "$2b$04$......................SOTgceZnd99TCJcTRZU3xFM9qH6L7.u"

    private func check(
        _ password: String, user: String = "alice", isDecoy: Bool = false, hash: String? = nil,
        client: String = "192.0.2.1"
    ) -> PasswordCheck {
        PasswordCheck(
            flow: 1, user: user, password: Array(password.utf8), hash: hash ?? self.hash, isDecoy: isDecoy,
            client: IPAddress(client))
    }

    @Test func hashesOfTheSystem() {
        // published examples of bcrypt, one for each spelling of its name
        #expect(PasswordHash.matches(Array("U*U".utf8), "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"))
        #expect(PasswordHash.matches(Array("U*U".utf8), "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"))
        #expect(PasswordHash.matches(Array("U*U".utf8), "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"))
        #expect(PasswordHash.matches([], "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy"))
        #expect(
            !PasswordHash.matches(Array("U*V".utf8), "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"))
        #expect(
            !PasswordHash.matches(Array("U*U\0".utf8), "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"))
        #expect(!PasswordHash.matches(Array("U*U".utf8), "*0") && !PasswordHash.matches(Array("U*U".utf8), ""))
        #expect(!PasswordHash.matches([UInt8](repeating: 0x61, count: 2_000), hash))
    }

    @Test func digestsTellNothingAndDiffer() throws {
        let digest = KeyedDigest()
        let one = try #require(digest([1]))
        #expect(one.count == 32 && digest([1]) == one && digest([2]) != one && KeyedDigest()([1]) != one)
        let other = try #require(digest([]))
        #expect(KeyedDigest.isSame(one, one) && !KeyedDigest.isSame(one, other))
        #expect(!KeyedDigest.isSame(one, Array(one.dropLast())))
    }

    @Test func aDigestHoldsAllOfACheck() {
        let authenticator = Authenticator()
        let one = authenticator.digest(of: check("x"))
        #expect(one != nil && one == authenticator.digest(of: check("x")))
        #expect(one != authenticator.digest(of: check("y")) && one != authenticator.digest(of: check("x", user: "b")))
        #expect(
            one != authenticator.digest(of: check("x", hash: "other")), "a password that was changed is checked anew")
        #expect(authenticator.digest(of: check("b", user: "a")) != authenticator.digest(of: check("", user: "ab")))
        #expect(one != Authenticator().digest(of: check("x")))
    }

    @Test func theMemoryHasAnEndAndALife() {
        var memory = PasswordCache(life: 1_000, capacity: 3)
        func holder(_ user: String, _ client: String = "192.0.2.1") -> PasswordCache.Holder {
            PasswordCache.Holder(check("", user: user, client: client))
        }
        memory.remember(holder("a"), [1], now: 0)
        #expect(memory.holds(holder("a"), [1], now: 999) && !memory.holds(holder("a"), [1], now: 1_000))
        #expect(!memory.holds(holder("a"), [2], now: 0) && !memory.holds(holder("b"), [1], now: 0))
        #expect(!memory.holds(holder("a", "192.0.2.2"), [1], now: 0), "from elsewhere a guess is a guess")
        memory.forget(holder("a"))
        #expect(!memory.holds(holder("a"), [1], now: 0))
        for number in 0..<100 {
            memory.remember(holder("\(number)"), [2], now: number)
            #expect(memory.count <= 3 && memory.holds(holder("\(number)"), [2], now: number))
        }
    }

    /// Asks on a loop and collects what comes back until there are `count` answers.
    private func answers(
        _ authenticator: Authenticator, _ checks: [PasswordCheck], _ count: Int
    ) throws -> (atOnce: [PasswordVerdict?], later: [UInt64: PasswordVerdict]) {
        let loop = try Loop()
        let box = try Mailbox<Authenticator.Answer>()
        var later: [UInt64: PasswordVerdict] = [:]
        let port = try MailboxPort(loop: loop, box) { answer in
            later[answer.ticket] = answer.verdict
            if later.count == count { loop.stop() }
        }
        let limit = try Timer(loop: loop, everyMilliseconds: 20_000) { loop.stop() }
        var atOnce: [PasswordVerdict?] = []
        for (index, check) in checks.enumerated() {
            let digest = try #require(authenticator.digest(of: check))
            atOnce.append(authenticator.verify(check, digest: digest, ticket: UInt64(index), reply: box, now: 0))
        }
        if count > 0 { loop.run() }
        withExtendedLifetime((port, limit)) {}
        return (atOnce, later)
    }

    @Test func rightAndWrongOnes() throws {
        let made = try answers(
            Authenticator(),
            [check("pass"), check("word"), check("pass", isDecoy: true), check("pass", user: "bob", hash: "$1$a$b")], 4)
        #expect(made.atOnce == [nil, nil, nil, nil])
        #expect(made.later == [0: .right, 1: .wrong, 2: .wrong, 3: .wrong])
    }

    @Test func manyConnectionsWithOnePasswordAreOneGuess() throws {
        let made = try answers(Authenticator(), Array(repeating: check("pass"), count: 100), 100)
        #expect(made.atOnce.allSatisfy { $0 == nil } && made.later.values.allSatisfy { $0 == .right })
    }

    @Test func guessesRunOut() throws {
        let authenticator = Authenticator()
        let guesses = (0..<20).map { check("guess \($0)") }
        let made = try answers(authenticator, guesses, 20)
        #expect(made.later.values.count { $0 == .wrong } == 10)
        #expect(made.later.values.count { $0.isTooMany } == 10)
        #expect(try answers(authenticator, [check("guess 20")], 0).atOnce.allSatisfy { $0?.isTooMany == true })
        // other addresses are none the worse for it
        #expect(try answers(authenticator, [check("pass", client: "192.0.2.2")], 1).later == [0: .right])
        // a wrong one that is shown again is no other guess
        #expect(try answers(authenticator, [check("guess 3")], 0).atOnce == [.wrong])
    }

    @Test func whoProvedItselfIsLetIn() throws {
        let authenticator = Authenticator()
        #expect(try answers(authenticator, [check("pass")], 1).later == [0: .right])
        let guesses = (0..<30).map { check("guess \($0)", user: "user \($0)") }
        #expect(try answers(authenticator, guesses, 30).later.values.count { $0 == .wrong } == 10)
        #expect(try answers(authenticator, [check("pass")], 1).later == [0: .right])
        let other = try answers(authenticator, [check("pass", user: "bob")], 0).atOnce
        #expect(other.allSatisfy { $0?.isTooMany == true })
    }

    /// The cache would tell, without end, which guess is right.
    @Test func whoGuessedTooMuchIsCheckedAgain() throws {
        let turned = try TurnedWorker()
        let verifier = try PasswordVerifier(loop: turned.worker.loop, authenticator: Authenticator())
        let connection = turned.worker.connectToNobody()
        func ask(_ password: String) -> PasswordVerdict? {
            verifier.verdict(on: check(password), of: ExchangeID(1), for: connection)
        }
        var turns = 0
        while ask("pass") != .right, turns < 100 {
            turned.worker.loop.turn()
            turns += 1
        }
        try #require(turns < 100)
        while ask("guess \(turns)")?.isTooMany != true, turns < 200 {
            turned.worker.loop.turn()
            turns += 1
        }
        try #require(turns < 200)
        #expect(ask("pass") != .right)
        turned.end()
    }

    @Test func manyUsersOfOneNetworkAreNoGuessers() throws {
        let users = (0..<30).map { check("pass", user: "user \($0)") }
        let made = try answers(Authenticator(), users, 30)
        #expect(made.later.count == 30 && made.later.values.allSatisfy { $0 == .right })
    }

    @Test func theQueueIsBounded() throws {
        let authenticator = Authenticator(threads: 1)
        let slow = "$2b$06$" + String(repeating: ".", count: 53)
        let many = (0..<600).map { check("x", user: "\($0)", hash: slow, client: "10.\($0 / 250).\($0 % 250).1") }
        let made = try answers(authenticator, many, 0)
        // a quarter is for those who have proved themselves
        #expect(made.atOnce.contains(.busy) && made.atOnce.prefix(192).allSatisfy { $0 == nil })
    }
}

extension PasswordVerdict {
    fileprivate var isTooMany: Bool { if case .tooMany(let wait) = self { wait > 0 } else { false } }
}
