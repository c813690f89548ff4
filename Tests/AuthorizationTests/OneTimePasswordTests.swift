import Formats
import TLSEngine
import Testing

@testable import Authorization

@Suite("One-time passwords")
struct OneTimePasswordTests {
    private static let seed = "12345678901234567890"

    /// As many bytes of it, again and again.
    private static func key(_ count: Int) -> [UInt8] {
        Array((0..<4).flatMap { _ in Array(seed.utf8) }.prefix(count))
    }

    /// RFC 4226 appendix D.
    @Test func counted() {
        let password = OneTimePassword(key: Self.key(20), kind: .counter(first: 0))
        let expected = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        #expect((0..<10).map { password.code($0) } == expected)
    }

    /// RFC 6238 appendix B.
    @Test(arguments: [
        (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
        (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
        (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
    ])
    func timed(_ seconds: Int, _ sha1: String, _ sha256: String, _ sha512: String) {
        func code(_ hash: MessageCode.Hash, _ count: Int) -> String? {
            OneTimePassword(key: Self.key(count), kind: .time(period: 30), hash: hash, digits: 8)
                .code(UInt64(seconds / 30))
        }
        #expect(code(.sha1, 20) == sha1)
        #expect(code(.sha256, 32) == sha256)
        #expect(code(.sha512, 64) == sha512)
    }

    private let timed = OneTimePassword(key: [], kind: .time(period: 30))
    private let counting = OneTimePassword(key: [], kind: .counter(first: 0))

    @Test func asAuthenticatorsAreGivenIt() throws {
        let plain = OneTimePassword(key: Array("Hello!".utf8) + [0xDE, 0xAD, 0xBE, 0xEF], kind: .time(period: 30))
        #expect(try OneTimePassword(reading: "jbsw y3dp-ehpk 3pxp", timed) == plain)
        let whole = "otpauth://totp/AM:alice@example.com?secret=JBSWY3DPEHPK3PXP&issuer=AM"
        #expect(try OneTimePassword(reading: whole, timed) == plain)
        let other = try OneTimePassword(reading: whole + "&algorithm=sha256&digits=8&period=60", timed)
        #expect(other.hash == .sha256 && other.digits == 8 && other.kind == .time(period: 60))
        let first = try OneTimePassword(
            reading: "otpauth://hotp/alice?counter=7&secret=JBSWY3DPEHPK3PXP", counting)
        #expect(first.kind == .counter(first: 7))
    }

    @Test(arguments: [
        ("JBSW1", "the secret is not base32, which has the letters and the digits 2 to 7"),
        ("", "the secret is not base32, which has the letters and the digits 2 to 7"),
        ("otpauth://hotp/a?secret=JBSWY3DP", "this URI is for hotp"),
        ("otpauth://totp/a", "the URI has no secret="), ("otpauth://totp/a?digits=6", "the URI has no secret="),
        ("otpauth:totp?secret=JBSWY3DP", "an otpauth:// URI begins with otpauth://totp/ or otpauth://hotp/"),
        ("otpauth://totp/a?secret=JBSWY3DP&digits=12", "digits of the URI is a number from 6 to 8"),
        ("otpauth://totp/a?secret=JBSWY3DP&period=0", "period of the URI is a number from 1 to 3600"),
        ("otpauth://totp/a?secret=JBSWY3DP&algorithm=MD5", "algorithm of the URI is SHA1, SHA256 or SHA512"),
    ])
    func whatIsNone(_ text: String, _ words: String) {
        do throws(OneTimePassword.Fault) {
            _ = try OneTimePassword(reading: text, timed)
            Issue.record("taken: \(text)")
        } catch {
            #expect(error.words == words)
        }
    }
}

/// Documents in memory.
final class KeptState: StateStore {
    private(set) var documents = StateDocuments()
    var isFull = false

    func value(of key: StateKey) -> [UInt8]? { documents.values[key.name] }
    func documents(in space: StateSpace) -> [String: [UInt8]] { documents.values }

    func change(_ key: StateKey, _ body: (inout [UInt8]?) -> Void) -> Bool {
        var value = documents.values[key.name]
        body(&value)
        return !isFull && documents.put(key.name, value)
    }
}

/// One-time passwords in a step-up.
@Suite("One-time passwords that AM is told")
struct OneTimeAnswerTests {
    private static let secret = Array("12345678901234567890".utf8)
    private let state = KeptState()

    private func machine(
        _ kind: OneTimePassword.Kind, hold: Int = 45_000, callback: String = "PasswordCallback"
    ) -> StepUp {
        var policy = policy()
        policy.hold = hold
        policy.answers = [
            .init(callback: callback, response: .oneTime(.init(key: Self.secret, kind: kind, digits: 6)))
        ]
        var machine = StepUp(policy: policy, advice: StepUpTests.transaction, session: "SESSION-A")
        _ = machine.begin()
        return machine
    }

    private func page(_ prompt: String, _ number: Int = 1, callback: String = "PasswordCallback") -> String {
        "{\"authId\":\"a\",\"callbacks\":[{\"type\":\"\(callback)\",\"output\":[{\"name\":\"prompt\",\"value\":\"\(prompt)\"}],"
            + "\"input\":[{\"name\":\"IDToken\(number)\",\"value\":\"\"}]}]}"
    }

    private func ask(
        _ machine: inout StepUp, _ prompt: String, at seconds: Int, callback: String = "PasswordCallback"
    ) -> StepUp.Command {
        machine.answered(
            status: 200, fields: fields(json), body: Array(page(prompt, callback: callback).utf8),
            Circumstances(seconds: seconds, state: state))
    }

    @Test func theClocks() throws {
        var machine = machine(.time(period: 30))
        let call = try #require(ask(&machine, "Code", at: 59).call)
        #expect(call.input(0) == .string("287082") && call.carriesAnswers)
        let told = machine.takeNotes().joined()
        #expect(!told.contains("287082") && told.contains("PasswordCallback answered"))
    }

    /// AM takes each once.
    @Test func theSameIsNotToldTwice() throws {
        var first = machine(.time(period: 30))
        #expect(ask(&first, "Code", at: 31).call?.input(0) == .string("287082"))
        var second = machine(.time(period: 30))
        let order = ask(&second, "Code", at: 40)
        #expect(order.wait == 20_000)
        #expect(
            second.takeNotes().last
                == "step 1: the one-time password for PasswordCallback \"Code\" was given to AM already; the next one comes in 20 s"
        )
        // the next one is for whoever has waited, though somebody else comes first
        var third = machine(.time(period: 30))
        #expect(ask(&third, "Code", at: 60).wait == 30_000)
        #expect(second.woke(Circumstances(seconds: 60, state: state)).call?.input(0) == .string("359152"))
        #expect(third.woke(Circumstances(seconds: 90, state: state)).call?.input(0) == .string("969429"))
    }

    /// Many wait, and the clock is set back meanwhile.
    @Test func noTimeIsGivenTwice() {
        let password = OneTimePassword(key: Array("12345678901234567890".utf8), kind: .time(period: 30))
        let counters = OneTimeCounters(state: state)
        #expect(counters.claim(password, seconds: 300) == password.code(10).map { .code($0) })
        let places = (0..<8).map { _ in counters.place(password, seconds: 300, longest: 3600) }
        #expect(places.map { $0?.counter } == [11, 12, 13, 14, 15, 16, 16, 16])
        #expect(places.map { $0?.isKept } == Array(repeating: true, count: 5) + Array(repeating: false, count: 3))
        for seconds in stride(from: 180, through: 479, by: 30) {
            #expect(counters.claim(password, seconds: seconds) == .taken, "\(seconds)")
        }
        #expect(counters.claim(password, seconds: 480) == password.code(16).map { .code($0) })
    }

    /// Whoever comes too late for all those that may be had within `hold` hears of it at once.
    @Test func oneOfManyIsToldAtOnce() {
        var machines = (0..<4).map { _ in machine(.time(period: 30), hold: 70_000) }
        var orders: [StepUp.Command] = []
        for index in machines.indices { orders.append(ask(&machines[index], "Code", at: 40)) }
        #expect(orders[0].call != nil && orders[1].wait == 20_000 && orders[2].wait == 50_000)
        #expect(
            orders[3].failure?.reason.hasSuffix("the next one comes in 80 s, later than authorization.hold allows")
                == true)
        // the loop may be late
        #expect(machines[1].woke(Circumstances(seconds: 65, state: state)).call?.input(0) == .string("359152"))
        #expect(machines[2].woke(Circumstances(seconds: 121, state: state)).call?.input(0) == .string("969429"))
    }

    @Test func whatComesTooLateEndsIt() {
        var first = machine(.time(period: 60))
        _ = ask(&first, "Code", at: 61)
        var second = machine(.time(period: 60), hold: 30_000)
        let failure = ask(&second, "Code", at: 62).failure
        #expect(failure?.code == .unanswered)
        #expect(failure?.reason.hasSuffix("the next one comes in 58 s, later than authorization.hold allows") == true)
        // a clock that was set back by more than a few of them
        var third = machine(.time(period: 60))
        _ = ask(&third, "Code", at: 100_000)
        var fourth = machine(.time(period: 60))
        #expect(ask(&fourth, "Code", at: 600).call != nil)
    }

    /// A counter goes on over restarts, and an AM that does not take one is not told all of them.
    @Test func theCounters() throws {
        var first = machine(.counter(first: 0))
        #expect(ask(&first, "Code", at: 0).call?.input(0) == .string("755224"))
        let again = ask(&first, "Code", at: 0)
        #expect(again.failure?.code == .refused && again.failure?.doubtsAnswers == true)
        var second = machine(.counter(first: 0))
        #expect(ask(&second, "Code", at: 0).call?.input(0) == .string("287082"))
        // set forward by hand, and not back
        var third = machine(.counter(first: 5))
        #expect(ask(&third, "Code", at: 0).call?.input(0) == .string("254676"))
        var fourth = machine(.counter(first: 0))
        #expect(ask(&fourth, "Code", at: 0).call?.input(0) == .string("287922"))
    }

    /// Whatever words AM finds: after two pages it is not told another one.
    @Test(arguments: ["PasswordCallback", "NameCallback"])
    func oneSecretGoesOutTwice(_ callback: String) {
        for kind in [OneTimePassword.Kind.counter(first: 0), .time(period: 30)] {
            var machine = machine(kind, callback: callback)
            var orders: [StepUp.Command] = []
            for (index, prompt) in ["Code", "Wrong, try again", "Once more"].enumerated() {
                orders.append(ask(&machine, prompt, at: 1000 + 30 * index, callback: callback))
            }
            #expect(orders.prefix(2).allSatisfy { $0.call != nil })
            #expect(orders[2].failure?.code == .refused)
        }
    }

    @Test func whatCannotBeRememberedIsNotTold() {
        state.isFull = true
        var machine = machine(.counter(first: 0))
        let failure = ask(&machine, "Code", at: 0).failure
        #expect(failure?.code == .unusable && failure?.doubtsAnswers == false)
        #expect(failure?.reason.contains("no room") == true)
    }

    @Test func secretsAreKeptByDigestsAlone() {
        var machine = machine(.counter(first: 0))
        _ = ask(&machine, "Code", at: 0)
        let kept = String(decoding: state.documents.text, as: UTF8.self)
        #expect(kept.contains("hotp") && !kept.contains(Base64.encode(Self.secret)))
    }
}
