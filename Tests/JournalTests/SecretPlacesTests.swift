import Journal
import Testing

/// Secrets are found wherever they stand in a text, which is looked at many bytes at a time.
struct SecretPlacesTests {
    private static func kept(_ store: inout JournalStore, _ write: (inout FlowPacker) -> Void) throws -> PackedFlow {
        var batch = FlowBatch()
        var packer = batch.begin([])
        packer.set(.id, 5)
        write(&packer)
        batch.end(packer)
        return try #require(store.take(batch, offset: 0).first)
    }

    private static func store() -> JournalStore {
        JournalStore(JournalStore.Settings(memory: 4 << 20, bodies: 8192)) { ("note", "\($0)") }
    }

    @Test(
        "A known secret is found with any first byte, and after any text",
        arguments: [
            "0123456789abcdefghij", "+/ab.cdefghijk1", "a.bcdefghij01234", "ab*cdefghijk0123", "é1bcdefghijk0123",
            "_-9bcdefghijk0123", "{\"odd\":\"one\"}1234",
        ])
    func known(_ secret: String) throws {
        var store = Self.store()
        let first = try Self.kept(&store) { $0.set(.request, "X-Api-Key: \(secret)\r\n") }
        #expect(first.text(.request) == "X-Api-Key: secret#1\r\n")
        for filler in ["-", "ab, ", "a/b ", "é: "] {
            for count in 0..<140 {
                let padding = String(repeating: filler, count: 40).prefix(count) + " "
                let flow = try Self.kept(&store) {
                    $0.set(.request, "X-Pad: \(padding)\(secret)\r\nX-Next: one\r\n")
                    $0.set(.requestBody, "\(padding)\(secret)")
                }
                #expect(flow.text(.request) == "X-Pad: \(padding)secret#1\r\nX-Next: one\r\n")
                #expect(flow.text(.requestBody) == "\(padding)secret#1")
            }
        }
    }

    @Test("A Cookie field that a body shows has the alias of the field", arguments: ["; member=gold", ";", ""])
    func echoed(_ rest: String) throws {
        var store = Self.store()
        let flow = try Self.kept(&store) {
            $0.set(.request, "Cookie: iPlanetDirectoryPro=s3cr3tS3ss10n\(rest)\r\n")
            $0.set(.responseBody, "{\"Cookie\": \"iPlanetDirectoryPro=s3cr3tS3ss10n\(rest)\"}")
        }
        let body = try #require(flow.text(.responseBody))
        #expect(body.hasPrefix("{\"Cookie\": \"iPlanetDirectoryPro=session#1\(rest.prefix(2))"), "\(body)")
    }

    @Test("An encoded secret is found, also before a line with a plain one")
    func hidden() throws {
        var store = Self.store()
        for count in 0..<140 {
            let padding = String(repeating: "x", count: count)
            let flow = try Self.kept(&store) {
                $0.set(
                    .request,
                    "X-Pad: \(padding)\r\nReferer: /p?%63ode=h1dd3n\(count)\r\nCookie: a=s3cr3t\(count)\r\nX-Last: 1\r\n"
                )
            }
            let text = try #require(flow.text(.request))
            #expect(!text.contains("h1dd3n") && !text.contains("s3cr3t"), "\(count)")
            #expect(text.hasPrefix("X-Pad: \(padding)\r\nReferer: /p?%63ode=code#"))
            #expect(text.hasSuffix("\r\nX-Last: 1\r\n"))
        }
    }

    @Test(
        "Secret names of every length are found at every position",
        arguments: ["otp", "code", "token", "password", "access_token", "k"])
    func named(_ name: String) throws {
        var settings = JournalStore.Settings(memory: 4 << 20, bodies: 8192)
        settings.secrets = ["k"]
        var store = JournalStore(settings) { ("note", "\($0)") }
        for count in 0..<140 {
            let padding = String(repeating: "a,", count: 70).prefix(count)
            let flow = try Self.kept(&store) {
                $0.set(.requestBody, "{\"x\":\"\(padding)\",\"\(name.uppercased())\":\"short\(count)\"}")
            }
            let text = try #require(flow.text(.requestBody))
            #expect(text.contains("#") && !text.contains("short\(count)\""), "\(text)")
        }
    }
}
