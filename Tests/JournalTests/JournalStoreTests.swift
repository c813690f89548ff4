import ContentCoding
import Interception
import Journal
import Testing

/// What the journal keeps of flows.
struct JournalStoreTests {
    private static func store(_ change: (inout JournalStore.Settings) -> Void = { _ in }) -> JournalStore {
        var settings = JournalStore.Settings(memory: 1 << 20, bodies: 4096)
        settings.sessionCookies = ["amSession"]
        change(&settings)
        return JournalStore(settings) { ("note", "\($0)") }
    }

    private static func keep(
        _ store: inout JournalStore, _ events: [ExchangeRecord.Event] = [], _ write: (inout FlowPacker) -> Void
    ) throws -> PackedFlow {
        var batch = FlowBatch()
        var packer = batch.begin(events)
        packer.set(.id, 5)
        write(&packer)
        batch.end(packer)
        return try #require(store.take(batch, offset: 1000).first)
    }

    private static func lines(_ text: String...) -> [UInt8] { Array(text.map { $0 + "\r\n" }.joined().utf8) }

    @Test("A batch is taken in pieces of at least one flow, and each flow keeps its events")
    func pieces() throws {
        var store = Self.store()
        var batch = FlowBatch()
        for number in 1...4 {
            let events =
                number % 2 == 0 ? [ExchangeRecord.Event(.edited(RuleNote("a\(number)", "x"), in: .request), at: 1)] : []
            var packer = batch.begin(events)
            packer.set(.id, number)
            packer.set(.requestBody, "password=\(number)")
            batch.end(packer)
        }
        var kept: [[PackedFlow]] = []
        for _ in 0..<2 { kept.append(store.take(&batch, offset: 0, until: 0)) }
        #expect(batch.left > 0 && kept.map { $0.map { $0[.id] } } == [[1], [2]])
        kept.append(store.take(&batch, offset: 0, until: .max))
        #expect(batch.left == 0 && store.take(&batch, offset: 0, until: .max).isEmpty)
        let flows = kept.flatMap { $0 }
        #expect(flows.map { $0[.id] } == [1, 2, 3, 4] && flows.map { $0[.sequence] } == [1, 2, 3, 4])
        #expect(flows.map { EventSummary($0).all.map(\.interceptor) } == [[], ["a2"], [], ["a4"]])
        #expect(flows.map { $0.text(.requestBody) } == (1...4).map { "password=password#\($0)" })
        // no more than that for looking
        var other = FlowBatch()
        for _ in 0..<3 {
            var packer = other.begin([])
            packer.set(.requestBody, String(repeating: "password=1 ", count: 100))
            other.end(packer)
        }
        #expect(store.take(&other, offset: 0, until: store.steps + 1200).count == 1)
    }

    @Test("A secret has the same alias in all parts of a flow, and in the next one")
    func aliases() throws {
        var store = Self.store()
        let token = "0123456789abcdefghij"
        let flow = try Self.keep(&store) {
            $0.set(.began, 5)
            $0.set(.target, "/p?access_token=\(token)")
            $0.set(.request, Self.lines("Authorization: Bearer \(token)", "X-Trace: t:\(token)"))
            $0.set(.response, Self.lines("Content-Type: application/json"))
            $0.set(.responseBody, #"{"access_token":"\#(token)","note":"\#(token)"}"#)
        }
        #expect(flow[.began] == 1005 && flow[.sequence] == 1)
        #expect(flow.text(.target) == "/p?access_token=token#1")
        #expect(flow.text(.request) == "Authorization: Bearer token#1\r\nX-Trace: t:token#1\r\n")
        #expect(flow.text(.responseBody) == #"{"access_token":"token#1","note":"token#1"}"#)
        let next = try Self.keep(&store) { $0.set(.request, Self.lines("Cookie: a=\(token)")) }
        #expect(next.text(.request) == "Cookie: a=token#1\r\n" && next[.sequence] == 2)
    }

    @Test("Bodies are stored decoded, and undecodable ones are dropped")
    func codings() throws {
        var store = Self.store()
        let plain = Array(#"{"password":"hunter2"}"#.utf8)
        let packed = try BodyEncoder.encode(plain, [.gzip])
        let flow = try Self.keep(&store) {
            $0.set(.flags, FlowFlags.responseEncoded.rawValue)
            $0.set(.response, Self.lines("Content-Encoding: gzip"))
            $0.set(.responseBody, packed)
        }
        #expect(flow.text(.responseBody) == #"{"password":"password#1"}"#)
        for (body, coding) in [(Array(packed.dropLast(4)), "gzip"), (plain, "gzip"), (plain, "unheard")] {
            let flow = try Self.keep(&store) {
                $0.set(.flags, FlowFlags.responseEncoded.rawValue)
                $0.set(.response, Self.lines("Content-Encoding: \(coding)"))
                $0.set(.responseBody, body)
            }
            #expect(flow.isEmpty(.responseBody) && flow.flags.contains(.responseBodyCut))
        }
    }

    @Test(
        "Named secrets are found in bodies that are not JSON, or are truncated JSON",
        arguments: [
            (#"{"a":1,"access_token":"abc","x":"#, #"{"a":1,"access_token":"token#1","x":"#),
            (#"<input type="hidden" name="code" value="abc"/>"#, #"<input type="hidden" name="code" value="code#1"/>"#),
            (#"<input name='id_token' value='abc'>"#, #"<input name='id_token' value='token#1'>"#),
            (#"location = "/cb?code=abc&x=1""#, #"location = "/cb?code=code#1&x=1""#),
            (#"var s = "{\"tokenId\":\"abc\",\"x\":1}""#, #"var s = "{\"tokenId\":\"session#1\",\"x\":1}""#),
            ("password = x", "password = password#1"), ("the code: 12", "the code: 12"),
            (
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter2\r\n--b--",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\npassword#1\r\n--b--"
            ),
        ])
    func scans(_ body: String, _ expected: String) throws {
        var store = Self.store()
        let flow = try Self.keep(&store) { $0.set(.responseBody, body) }
        #expect(flow.text(.responseBody) == expected)
    }

    @Test("A truncated body does not end with the beginning of a secret")
    func cut() throws {
        var store = Self.store()
        let flow = try Self.keep(&store) {
            $0.set(.flags, FlowFlags.responseBodyCut.rawValue)
            $0.set(.responseBody, #"{"x":"y","note":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIi"#)
        }
        #expect(flow.text(.responseBody) == #"{"x":"y","note":""#)
    }

    @Test("A message that was relayed unchanged is stored once")
    func unchanged() throws {
        var store = Self.store()
        func flow(_ sentURL: String, _ answer: String) throws -> PackedFlow {
            try Self.keep(&store) {
                $0.set(.scheme, 1)
                $0.set(.port, 80)
                $0.set(.status, 200)
                $0.set(.answerStatus, 200)
                $0.set(.method, "GET")
                $0.set(.authority, "a.test")
                $0.set(.target, "/p")
                $0.set(.request, Self.lines("A: b"))
                $0.set(.sentMethod, "GET")
                $0.set(.sentURL, sentURL)
                $0.set(.sent, Self.lines("A: b"))
                $0.set(.answer, Self.lines(answer))
                $0.set(.response, Self.lines("C: d"))
            }
        }
        let same = try flow("http://a.test/p", "C: d")
        #expect(same.isEmpty(.sent) && same.isEmpty(.answer) && same.flags == [])
        let other = try flow("http://a.test/p?x=1", "C: e")
        #expect(other.text(.sentURL) == "http://a.test/p?x=1" && other.text(.answer) == "C: e\r\n")
        #expect(other.flags == [.requestEdited, .responseEdited])
    }

    @Test("A text is searched again once a secret in it is known")
    func learnedLater() throws {
        var store = Self.store()
        let token = "0123456789abcdefghij"
        let text = #"{"note":"a page that is long enough to be remembered as a harmless one","of":"\#(token)"}"#
        func keep() throws -> [String?] {
            let flow = try Self.keep(&store) {
                $0.set(.target, "/" + text)
                $0.set(.request, Self.lines("X-A: " + text))
                $0.set(.response, Self.lines("X-B: " + text))
                $0.set(.responseBody, text)
            }
            return [.target, .request, .response, .responseBody].map(flow.text)
        }
        let plain = ["/" + text, "X-A: \(text)\r\n", "X-B: \(text)\r\n", text]
        #expect(try keep() == plain)
        #expect(try keep() == plain)
        _ = try Self.keep(&store) { $0.set(.request, Self.lines("Authorization: Bearer \(token)")) }
        #expect(try keep() == plain.map { $0.replacing(token, with: "token#1") })
        // and one that is named from the next generation on
        let named = Self.lines("X-House: some value that is long enough, too, and was there before it was named")
        let before = try Self.keep(&store) { $0.set(.request, named) }
        #expect(before[.request].elementsEqual(named))
        var settings = JournalStore.Settings(memory: 1 << 20, bodies: 4096)
        settings.secrets = ["X-House"]
        store.adopt(settings)
        let after = try Self.keep(&store) { $0.set(.request, named) }
        #expect(after.text(.request) == "X-House: secret#1\r\n")
    }

    @Test("A flow without changes is stored as it is, with its numbers")
    func plain() throws {
        var store = Self.store()
        func keep(_ flags: FlowFlags, _ events: [ExchangeRecord.Event] = []) throws -> PackedFlow {
            try Self.keep(&store, events) {
                $0.set(.began, 5)
                $0.set(.duration, 7)
                $0.set(.flags, flags.rawValue)
                $0.set(.client, "127.0.0.1")
                $0.set(.realm, "/alpha")
                $0.set(.target, "/p?x=1")
                $0.set(.request, Self.lines("A: b"))
                // of a request that went out as it came
                $0.set(.sentBody, "dropped")
                $0.set(.response, Self.lines("C: d"))
                $0.set(.responseBody, "some text")
            }
        }
        for (number, flow) in try [
            keep([.newClient, .requestEncoded]),
            keep(.newClient, [.init(.edited(RuleNote("a", "x"), in: .request), at: 1)]),
        ].enumerated() {
            #expect(flow[.id] == 5 && flow[.sequence] == number + 1 && flow[.began] == 1005 && flow[.duration] == 7)
            #expect(flow.flags == .newClient && flow[.events] == 0 && flow.isEmpty(.events) == (number == 0))
            #expect(flow.text(.client) == "127.0.0.1" && flow.text(.realm) == "/alpha" && flow.isEmpty(.sentBody))
            #expect(flow.text(.target) == "/p?x=1" && flow.text(.request) == "A: b\r\n" && flow.isEmpty(.requestBody))
            #expect(flow.text(.response) == "C: d\r\n" && flow.text(.responseBody) == "some text")
        }
        let whole = try Self.keep(&store) {
            $0.set(.flags, ([.requestEncoded, .responseEncoded, .requestBodyCut] as FlowFlags).rawValue)
            $0.set(.target, "/p")
            $0.set(.response, Self.lines("C: d"))
        }
        #expect(whole.flags == .requestBodyCut && whole[.sequence] == 3 && whole.text(.response) == "C: d\r\n")
    }

    @Test("Secrets of the configuration are found anywhere, after any number of others")
    func configured() throws {
        let secret = "robot-password-1234"
        var store = Self.store { $0.known = [Array(secret.utf8)] }
        for number in 0..<40_000 {
            _ = try Self.keep(&store) { $0.set(.request, Self.lines("Authorization: Bearer token-number-\(number)")) }
        }
        let flow = try Self.keep(
            &store, [ExchangeRecord.Event(.edited(RuleNote("a", "set to \(secret)"), in: .request), at: 2)]
        ) {
            $0.set(.target, "/x/\(secret)")
        }
        #expect(flow.text(.target) == "/x/secret#1")
        #expect(flow.text(.events)?.contains("secret#1") == true && flow.text(.events)?.contains(secret) == false)
    }

    @Test("A response that was delivered unchanged is stored once, without the flag of an edit")
    func deliveredAsItCame() throws {
        var store = Self.store()
        for (body, isOther) in [("hello", false), ("other", true)] {
            let events = [ExchangeRecord.Event(.throttled(interceptor: "slow", rate: 5), at: 1)]
            let flow = try Self.keep(&store, events) {
                $0.set(.status, 200)
                $0.set(.answerStatus, 200)
                $0.set(.answer, Self.lines("A: b"))
                $0.set(.answerBody, body)
                $0.set(.response, Self.lines("A: b"))
                $0.set(.responseBody, "hello")
            }
            #expect((FlowMessage(flow, .answer) != nil) == isOther)
            #expect(flow.flags.contains(.responseEdited) == isOther)
        }
    }

    @Test("A flow has its interceptors and their actions, and is found by them")
    func doings() throws {
        var store = Self.store()
        let flow = try Self.keep(
            &store,
            [
                .init(.edited(RuleNote("cut: short", "fault"), in: .response), at: 1),
                .init(.delayed(interceptor: "b", milliseconds: 1), at: 1), .init(.queued(interceptor: "b"), at: 1),
                .init(.cutShort(.init(after: 1)), at: 2), .init(.notApproved("x"), at: 3),
            ]
        ) { $0.set(.status, 200) }
        #expect(flow.flags.isSuperset(of: [.faulted, .slowed, .notApproved]))
        let doings = EventSummary(flow).all
        #expect(doings.map(\.interceptor) == ["cut: short", "b", ""])
        #expect(doings.map(\.deeds) == [["applied"], ["delayed", "waited"], ["truncated"]])
        for (term, fits) in [
            ("interceptor=b", true), ("interceptor=cut: short", true), ("interceptor=cut*", true),
            ("interceptor=cut", false),
            ("interceptor=applied", false), ("did=applied", true), ("did=truncated,reset", true),
            ("did=aborted", false),
            ("interceptor!=b", false), ("did!=aborted", true),
        ] {
            #expect(try FlowFilter([term], now: 0).accepts(flow) == fits, "\(term)")
        }
        #expect(throws: FlowFilter.Fault.self) { try FlowFilter(["did=delaid"], now: 0) }
        let event = flow.text(.events)?.contains(#""interceptor":"b","did":"waited""#)
        #expect(event == true && flow.text(.events)?.contains(#""phase":"response""#) == true)
    }

    @Test("A reload keeps the aliases and applies new names of secrets")
    func adopted() throws {
        var store = Self.store()
        let before = try Self.keep(&store) { $0.set(.request, Self.lines("amSession: abc", "X-House: abc")) }
        #expect(before.text(.request) == "amSession: session#1\r\nX-House: abc\r\n")
        var settings = JournalStore.Settings(memory: 1 << 20, bodies: 4096)
        settings.secrets = ["X-House"]
        store.adopt(settings)
        let after = try Self.keep(&store) { $0.set(.request, Self.lines("X-House: abc")) }
        #expect(after.text(.request) == "X-House: session#1\r\n")
    }
}
