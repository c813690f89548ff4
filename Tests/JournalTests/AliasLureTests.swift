import HTTPCodec
import Journal
import Testing

/// What a client writes that looks like an alias stands for nobody's secret.
struct AliasLureTests {
    private static let session = "AQIC5wM2LY4SfczFxI9lMv4PgF7lAAJTSQ"

    private static func store() -> JournalStore {
        var settings = JournalStore.Settings(memory: 4 << 20, bodies: 8192)
        settings.reveals = true
        return JournalStore(settings) { ("note", "\($0)") }
    }

    private static func kept(_ store: inout JournalStore, _ write: (inout FlowPacker) -> Void) throws -> PackedFlow {
        var batch = FlowBatch()
        var packer = batch.begin([])
        packer.set(.id, 5)
        packer.set(.scheme, 2)
        write(&packer)
        batch.end(packer)
        return try #require(store.take(batch, offset: 0).first)
    }

    private static func shown(_ flow: PackedFlow) -> PackedFlow {
        flow.revealed { $0.text == "session#1" ? Array(session.utf8) : nil }
    }

    @Test(
        "A client's text in the form of an alias reveals no secret",
        arguments: [
            "X-Lure: session#1\r\n", "Cookie: a=session#1\r\n", "Authorization: session#1 x\r\n",
            "X-Json: {\"a\":\"session#1\",\"b\":\"session\\u00231\",\"code\":\"x\"}\r\n", "session#1: x\r\n",
            "session#1\r\n",
            "Referer: https://a/?session#1=1&b=session%231&code=x\r\n",
            "X: session#1session#1 session##1 session###1\r\n",
            "X-Password: session#1\r\n", "X: https://session#1:session#1@a/\r\n", "X: a\u{0}session#1\r\n",
            "Sec-WebSocket-Protocol: session#1, b\r\n",
            "X: /a?goto=https%3A%2F%2Fb%3Fx%3Dsession%25231%26y%3Dsession%231%26code%3Dabc\r\n",
            "WWW-Authenticate: Basic realm=\"session#1\"\r\n", "Set-Cookie: session#1=1; Path=session#1\r\n",
        ])
    func fields(_ line: String) throws {
        for other in ["", "Authorization: Bearer a-token-of-its-own-1\r\n"] {
            var store = Self.store()
            _ = try Self.kept(&store) { $0.set(.request, "Cookie: iPlanetDirectoryPro=\(Self.session)\r\n") }
            #expect(store.takeSecrets().map(\.alias.text) == ["session#1"])
            let flow = try Self.kept(&store) {
                $0.set(.request, other + line)
                $0.set(.requestBody, line)
            }
            let shown = Self.shown(flow)
            for part in [FlowPart.request, .requestBody] {
                #expect(shown.text(part)?.contains(Self.session) == false, "\(shown.text(part) ?? "")")
            }
        }
    }

    @Test("Parts without redaction reveal no secret either")
    func otherParts() throws {
        var store = Self.store()
        _ = try Self.kept(&store) { $0.set(.request, "Cookie: iPlanetDirectoryPro=\(Self.session)\r\n") }
        let flow = try Self.kept(&store) {
            $0.set(.user, "session#1")
            $0.set(.type, "session#1")
            $0.set(.method, "session#1")
            $0.set(.request, "Authorization: Bearer a-token-of-its-own-1\r\n")
        }
        let shown = Self.shown(flow)
        #expect(shown.text(.user) == "session#1" && shown.text(.method) == "session#1")
        #expect(shown.text(.type) == "session#1")
    }

    @Test("Such text is shown and replayed as written, and the aliases beside it are filled in")
    func asItWas() throws {
        var store = Self.store()
        let body = "{\"session\":\"\(Self.session)\",\"comment\":\"like session#1, or session##1\"}"
        let flow = try Self.kept(&store) {
            $0.set(.method, "POST")
            $0.set(.authority, "a.test")
            $0.set(.target, "/p")
            $0.set(.port, 443)
            $0.set(.request, "Content-Type: application/json\r\nX-Lure: one-time#1 transaction#2\r\n")
            $0.set(.requestBody, body)
        }
        #expect(
            flow.text(.requestBody) == "{\"session\":\"session#1\",\"comment\":\"like session##1, or session###1\"}")
        #expect(flow.text(.request)?.contains("X-Lure: one-time##1 transaction##2") == true)
        #expect(Self.shown(flow).text(.requestBody) == body)
        let draft = try ReplayDraft(flow, isForced: false) { $0.text == "session#1" ? Array(Self.session.utf8) : nil }
        #expect(String(decoding: draft.body, as: UTF8.self) == body)
        #expect(draft.head.fields["X-Lure"] == "one-time#1 transaction#2")
    }

    @Test("A request that only quotes a journey's alias does not join the journey")
    func journeys() throws {
        var store = Self.store()
        _ = try Self.kept(&store) {
            $0.set(.action, "START_AUTHENTICATE")
            $0.set(.status, 200)
            $0.set(.responseBody, "{\"tokenId\":\"\(Self.session)\",\"successUrl\":\"/\"}")
        }
        _ = try Self.kept(&store) {
            $0.set(.id, 6)
            $0.set(.request, "Cookie: a=1; X=session#1\r\nX-Lure: session#1\r\n")
        }
        let journeys = JourneyBook(store.ring).journeys
        #expect(journeys.count == 1 && journeys.first?.resources.isEmpty == true)
    }
}
