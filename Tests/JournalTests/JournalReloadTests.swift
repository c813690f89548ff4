import Testing

@testable import Journal

/// What another generation of the configuration changes of the journal: it reaches what is there, and what is to come.
@Suite("The journal during a reload")
struct JournalReloadTests {
    private static let secret = "kE9-configured-7Qx"

    private static func settings(_ change: (inout JournalStore.Settings) -> Void = { _ in }) -> JournalStore.Settings {
        var settings = JournalStore.Settings(memory: 1 << 20, bodies: 4096)
        settings.sessionCookies = ["amSession"]
        change(&settings)
        return settings
    }

    private static func store(_ change: (inout JournalStore.Settings) -> Void = { _ in }) -> JournalStore {
        JournalStore(settings(change)) { _ in ("", "") }
    }

    @discardableResult
    private func keep(_ store: inout JournalStore, _ lines: String, body: [UInt8] = []) throws -> PackedFlow {
        var batch = FlowBatch()
        var packer = batch.begin([])
        packer.set(.id, 5)
        packer.set(.request, lines + "\r\n")
        packer.set(.responseBody, body)
        batch.end(packer)
        return try #require(store.take(batch, offset: 0).first)
    }

    @Test func newSecretsAreFoundWhereverTheyStand() throws {
        var store = Self.store()
        #expect(try keep(&store, "X-Note: \(Self.secret)").text(.request)?.contains(Self.secret) == true)
        store.adopt(Self.settings { $0.known = [Array(Self.secret.utf8)] })
        #expect(try keep(&store, "X-Note: \(Self.secret)").text(.request)?.contains(Self.secret) == false)
    }

    @Test func newNamesTellOfSecrets() throws {
        var store = Self.store()
        #expect(try keep(&store, "other: abc").text(.request) == "other: abc\r\n")
        store.adopt(Self.settings { $0.sessionCookies = ["other"] })
        #expect(try keep(&store, "other: abc").text(.request) == "other: session#1\r\n")
    }

    @Test func bodiesAreKeptByTheNewBound() throws {
        var store = Self.store()
        let body = [UInt8](repeating: 0x61, count: 2000)
        #expect(try keep(&store, "A: b", body: body)[.responseBody].count == 2000)
        store.adopt(Self.settings { $0.bodies = 1000 })
        #expect(try keep(&store, "A: b", body: body)[.responseBody].count < 2000)
        store.adopt(Self.settings { $0.bodies = 4000 })
        #expect(try keep(&store, "A: b", body: body)[.responseBody].count == 2000)
    }

    /// What is there by now makes room, and what comes has no more.
    @Test func aSmallerBudgetHoldsAtOnce() throws {
        var store = Self.store()
        let text = "X: " + String(repeating: "word ", count: 200)
        for _ in 0..<20 { try keep(&store, text) }
        #expect(store.ring.count == 20)
        store.adopt(Self.settings { $0.memory = 8 << 10 })
        let left = store.ring.count
        #expect(left < 8 && left > 0 && store.ring.bytes <= 8 << 10)
        for _ in 0..<20 { try keep(&store, text) }
        #expect(store.ring.count == left)
        store.adopt(Self.settings())
        for _ in 0..<20 { try keep(&store, text) }
        #expect(store.ring.count == left + 20)
    }

    /// Secrets are kept from when on they may be shown, and no longer.
    @Test func whatMayBeShownBeginsAndEnds() throws {
        var store = Self.store()
        try keep(&store, "Cookie: amSession=before-it-was-asked-for")
        #expect(store.takeSecrets().isEmpty)
        store.adopt(Self.settings { $0.reveals = true })
        try keep(&store, "Cookie: amSession=while-it-is-asked-for")
        store.adopt(Self.settings { $0.reveals = true })
        #expect(store.takeSecrets().map(\.bytes) == [Array("while-it-is-asked-for".utf8)])
        try keep(&store, "Cookie: amSession=left-over-from-before")
        store.adopt(Self.settings())
        try keep(&store, "Cookie: amSession=after-it-was-asked-for")
        #expect(store.takeSecrets().isEmpty)
        store.adopt(Self.settings { $0.reveals = true })
        #expect(store.takeSecrets().isEmpty)
    }

    /// They stand in the configuration, and are kept nowhere else.
    @Test func secretsOfTheConfigurationAreNotKept() throws {
        var store = Self.store {
            $0.reveals = true
            $0.known = [Array(Self.secret.utf8)]
        }
        try keep(&store, "Authorization: Bearer \(Self.secret)")
        #expect(store.takeSecrets().isEmpty)
        store.adopt(
            Self.settings {
                $0.reveals = true
                $0.known = [Array("another-configured-1Zz".utf8)]
            })
        try keep(&store, "Authorization: Bearer another-configured-1Zz")
        #expect(store.takeSecrets().isEmpty)
    }
}
