import Journal
import TLSEngine
import Testing

@testable import Operation

@Suite("Secrets of the journal, sealed")
struct SealedSecretsTests {
    /// The disk, with what was put there.
    private struct Shelf: FlowShelf {
        var held: [SecretAlias: [UInt8]] = [:]

        func newestFirst(before sequence: Int, _ body: (PackedFlow) -> Bool) {}
        func oldestFirst(after sequence: Int, _ body: (PackedFlow) -> Bool) {}
        func find(_ text: String) -> FlowRing.Finding { .none }
        func calls(of id: Int) -> [PackedFlow] { [] }
        func sealed(_ alias: SecretAlias) -> [UInt8]? { held[alias] }
    }

    private static func key(_ text: String = "a key of thirty-two bytes or more") -> SecretBytes {
        var bytes = Array(text.utf8)
        return SecretBytes(taking: &bytes)
    }

    /// Secrets as the journal meets them.
    private static func met(_ sessions: [String]) throws -> [MetSecret] {
        var settings = JournalStore.Settings()
        settings.reveals = true
        settings.sessionCookies = ["sid"]
        var store = JournalStore(settings) { _ in ("", "") }
        var batch = FlowBatch()
        for session in sessions {
            var packer = batch.begin([])
            packer.set(.request, "Cookie: sid=\(session)\r\n")
            batch.end(packer)
        }
        store.take(batch, offset: 0)
        return store.takeSecrets()
    }

    private static let first = SecretAlias(.session, 1)

    @Test func whatIsKeptIsGivenBack() throws {
        let secrets = SealedSecrets()
        secrets.adopt(Self.key(), budget: 10_000)
        let sealed = secrets.keep(try Self.met(["a-session-of-somebody"]))
        #expect(sealed.map(\.alias) == [Self.first])
        #expect(secrets.secret(Self.first, nil) == Array("a-session-of-somebody".utf8))
        #expect(secrets.secret(SecretAlias(.token, 1), nil) == nil)
        #expect(!sealed[0].sealed.contains("somebody".utf8))
    }

    @Test func theDiskIsAskedForWhatMemoryHasNoMore() throws {
        let secrets = SealedSecrets()
        secrets.adopt(Self.key(), budget: 600)
        let sealed = secrets.keep(try Self.met((1...10).map { "a-session-of-somebody-\($0)" }))
        #expect(sealed.count == 10 && secrets.secret(Self.first, nil) == nil)
        #expect(secrets.secret(SecretAlias(.session, 10), nil) != nil)
        var shelf = Shelf()
        shelf.held[Self.first] = sealed[0].sealed
        #expect(secrets.secret(Self.first, shelf) == Array("a-session-of-somebody-1".utf8))
        // under another name it does not open
        shelf.held[Self.first] = sealed[1].sealed
        #expect(secrets.secret(Self.first, shelf) == nil)
    }

    @Test func withoutTheKeyNothingOpens() throws {
        let secrets = SealedSecrets()
        #expect(secrets.keep(try Self.met(["a-session-of-somebody"])).isEmpty)
        secrets.adopt(Self.key(), budget: 10_000)
        _ = secrets.keep(try Self.met(["a-session-of-somebody"]))
        secrets.adopt(Self.key("another key of thirty-two bytes or more"), budget: 10_000)
        #expect(secrets.secret(Self.first, nil) == nil)
        secrets.adopt(nil, budget: 0)
        secrets.adopt(Self.key(), budget: 10_000)
        #expect(secrets.secret(Self.first, nil) == nil, "what was there is gone")
    }

    @Test func aFlowIsFilledInWhereItsOwnSecretsStood() throws {
        var settings = JournalStore.Settings()
        settings.reveals = true
        settings.sessionCookies = ["sid"]
        var store = JournalStore(settings) { _ in ("", "") }
        func taken(_ request: String, _ target: String = "/", body: String = "") throws -> PackedFlow {
            var batch = FlowBatch()
            var packer = batch.begin([])
            packer.set(.method, "POST")
            packer.set(.authority, "a.test")
            packer.set(.target, target)
            packer.set(.request, request)
            packer.set(.requestBody, body)
            batch.end(packer)
            return try #require(store.take(batch, offset: 0).first)
        }
        let json = "Content-Type: application/json\r\n"
        let flow = try taken(
            "Cookie: sid=one%2Bsession-of-somebody\r\n" + json, "/x?access_token=a%2Fb-0123456789&n=1",
            body: #"{"password":"say \"it\""}"#)
        let secrets = SealedSecrets()
        secrets.adopt(Self.key(), budget: 10_000)
        _ = secrets.keep(store.takeSecrets())
        #expect(flow.text(.request)?.contains("sid=session#1") == true)
        let whole = flow.revealed { secrets.secret($0, nil) }
        #expect(whole.text(.request) == "Cookie: sid=one%2Bsession-of-somebody\r\n" + json)
        #expect(whole.text(.target) == "/x?access_token=a%2Fb-0123456789&n=1")
        #expect(whole.text(.requestBody) == #"{"password":"say \"it\""}"#)
        // somebody else writes the alias, to have the secret sent where it does not belong
        let lure = try taken("X-Lure: session#1, token#1\r\n")
        #expect(lure.revealed { secrets.secret($0, nil) }.text(.request) == "X-Lure: session#1, token#1\r\n")
    }
}
