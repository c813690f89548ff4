import Control
import Formats
import HTTPCodec
import Journal
import Testing

/// What is asked of the journal, and what it answers.
struct FlowRoutesTests {
    /// Answers at once.
    private final class Shelf: FlowDirectory {
        var ring = FlowRing(budget: 1 << 20)
        var keepsFlows = true
        /// What lies on the disk; the newest last.
        var older: [PackedFlow]?
        var secrets: SecretSource?
        var disk: (any FlowDisk)? { older.map { OlderFlows(flows: $0) } }
        var replayed: [(id: String, wish: ReplayWish)] = []
        var waited: (count: Int, after: Int, until: Int)?
        var followed: (filter: FlowFilter, after: Int?)?
        let time = 1_700_000_060_000
        let version = "0"
        static func clock() -> Int { 0 }

        func ask(_ query: @escaping @Sendable (FlowRing) -> Void) -> Bool {
            query(ring)
            return true
        }

        func wait(
            for count: Int, of filter: FlowFilter, after: Int, until time: Int,
            isWanted: @escaping @Sendable () -> Bool, _ query: @escaping @Sendable (FlowRing) -> Void
        ) -> Bool {
            waited = (count, after, time)
            return count < 3 && isWanted() && ask(query)
        }

        func follow(
            _ filter: FlowFilter, after: Int?, _ follower: any ControlFollower,
            event: @escaping @Sendable (PackedFlow) -> ServerEvent
        ) -> () -> Void {
            followed = (filter, after)
            return {}
        }

        func replay(_ id: String, _ wish: ReplayWish, _ secrets: SecretSource?, _ promise: ControlPromise) {
            replayed.append((id, wish))
            promise.keep(ControlAnswer(.object([])))
        }

        static func copy(_ flow: JSONValue, as form: FlowCopy) throws(ControlProblem) -> [UInt8] {
            Array("\(form) \(flow["flow"]?["id"]?.text ?? "")".utf8)
        }

        static func note(_ words: String) {}

        func add(_ id: Int, status: Int, body: [UInt8] = [], parent: Int = 0) {
            if let flow = Self.flow(id, status: status, body: body, parent: parent) { ring.append(flow) }
        }

        static func flow(_ id: Int, status: Int, body: [UInt8] = [], parent: Int = 0) -> PackedFlow? {
            var packer = FlowPacker()
            for (number, value) in [
                (FlowNumber.id, id), (.parent, parent), (.sequence, id), (.began, 1_700_000_060_000), (.status, status),
                (.scheme, 1),
                (.port, 80),
            ] { packer.set(number, value) }
            packer.set(.client, "127.0.0.1")
            packer.set(.method, "GET")
            packer.set(.authority, "a.test")
            packer.set(.target, "/")
            packer.set(.request, "Host: a.test\r\nX: \u{FF}\r\n")
            packer.set(.response, "Content-Type: text/plain\r\n")
            packer.set(.responseBody, body)
            packer.set(.events, #"[{"at_ms":1,"event":"note","text":"x"}]"#)
            return PackedFlow(packer.finish())
        }
    }

    /// Answers at once, too.
    private struct OlderFlows: FlowDisk, FlowShelf {
        let flows: [PackedFlow]
        let isOpen = true

        func ask(_ query: @escaping @Sendable ((any FlowShelf)?) -> Void) -> Bool {
            query(self)
            return true
        }

        func newestFirst(before sequence: Int, _ body: (PackedFlow) -> Bool) {
            for flow in flows.reversed() where flow[.sequence] < sequence { guard body(flow) else { return } }
        }

        func oldestFirst(after sequence: Int, _ body: (PackedFlow) -> Bool) {
            for flow in flows where flow[.sequence] > sequence { guard body(flow) else { return } }
        }

        func find(_ text: String) -> FlowRing.Finding {
            flows.first { FlowID($0.id).description == text }.map { .one($0) } ?? .none
        }

        func sealed(_ alias: SecretAlias) -> [UInt8]? { nil }
        func calls(of id: Int) -> [PackedFlow] { flows.filter { $0[.parent] == id } }
    }

    @Test("Where memory ends, the disk goes on, in both directions")
    func disk() throws {
        let shelf = Shelf()
        for id in 21...30 { shelf.add(id, status: 200) }
        // what is in memory is on the disk, too
        shelf.older = (1...25).compactMap { Shelf.flow($0, status: $0 == 3 ? 500 : 200, parent: $0 == 2 ? 3 : 0) }
        func listed(_ query: String) throws -> (ids: [Int], next: JSONValue?) {
            let body = try #require(Self.ask(shelf, "GET", "/v1/flows?\(query)")).body
            return ((body["flows"]?.items ?? []).compactMap { $0["sequence"]?.integer }, body["next"])
        }
        var page = try listed("limit=12")
        #expect(page.ids == Array((19...30).reversed()) && page.next?.integer == 19)
        page = try listed("limit=10")
        #expect(page.ids == Array((21...30).reversed()) && page.next?.integer == 21)
        page = try listed("limit=1000&before=21&filter=calls%3Dyes")
        #expect(page.ids == Array((1...20).reversed()) && page.next == .null)
        #expect(try listed("q=status%3D500").ids == [3])
        page = try listed("after=0&limit=2&filter=calls%3Dyes")
        #expect(page.ids == [1, 2] && page.next?.integer == 2)
        page = try listed("after=15")
        #expect(page.ids == Array(16...20) && page.next?.integer == 20, "memory has the next page")
        page = try listed("after=20")
        #expect(page.ids == Array(21...30) && page.next == .null)
        let flow = try #require(Self.ask(shelf, "GET", "/v1/flows/3")).body
        #expect(flow["calls"]?.items?.count == 1 && flow["calls"]?[0]?["flow"]?["id"]?.text == "2")
        #expect(Self.ask(shelf, "GET", "/v1/flows/1e")?.status == 200)
        #expect(Self.ask(shelf, "GET", "/v1/flows/dead")?.status == 404)
    }

    private static func ask(_ shelf: Shelf, _ method: String, _ path: String) -> ControlAnswer? {
        final class Box: @unchecked Sendable { var answer: ControlAnswer? }
        let box = Box()
        switch ControlRouter(FlowRoutes(shelf).all).reply(ControlRequest(method, path)) {
        case .now(let answer): return answer
        case .later(_, _, let make), .waiting(_, _, let make):
            make(ControlPromise { if box.answer == nil { box.answer = $0 } })
        case .following: return nil
        }
        return box.answer
    }

    private static func shelf() -> Shelf {
        let shelf = Shelf()
        for id in 1...30 { shelf.add(id, status: id % 10 == 0 ? 500 : 200) }
        return shelf
    }

    @Test("A list is waited for, for so many and so long")
    func waiting() throws {
        let shelf = Self.shelf()
        let answer = try #require(Self.ask(shelf, "GET", "/v1/flows?filter=status%3D5xx&wait=2&timeout=700&after=4"))
        #expect(answer.status == 200 && answer.body["flows"]?.items?.isEmpty == false)
        let waited = try #require(shelf.waited)
        #expect(waited.count == 2 && waited.after == 4 && waited.until == 700 + ControlLimits.waitGrace)
        #expect(Self.ask(shelf, "GET", "/v1/flows?wait=1")?.status == 200 && shelf.waited?.until == 11_000)
        #expect(Self.ask(shelf, "GET", "/v1/flows?wait=3")?.status == 503, "too many wait")
        for wrong in ["wait=0", "wait=1001", "wait=x", "wait=1&timeout=0", "wait=1&timeout=60001", "timeout=5"] {
            #expect(Self.ask(shelf, "GET", "/v1/flows?\(wrong)")?.status == 400, "\(wrong)")
        }
    }

    @Test("Lists have pages, and say how they go on")
    func lists() throws {
        let shelf = Self.shelf()
        var answer = try #require(Self.ask(shelf, "GET", "/v1/flows?limit=2&filter=status%3D5xx"))
        #expect(answer.status == 200 && (answer.body["flows"]?.items ?? []).map { $0["id"]?.text } == ["1e", "14"])
        let next = try #require(answer.body["next"]?.integer)
        answer = try #require(Self.ask(shelf, "GET", "/v1/flows?limit=2&q=status%3D5xx&before=\(next)"))
        #expect((answer.body["flows"]?.items ?? []).map { $0["id"]?.text } == ["a"] && answer.body["next"] == .null)
        answer = try #require(Self.ask(shelf, "GET", "/v1/flows?after=28"))
        #expect((answer.body["flows"]?.items ?? []).map { $0["sequence"]?.integer } == [29, 30])
        #expect(answer.body["kept"]?.integer == 30)
    }

    @Test(
        "What is asked for wrongly is refused with the reason",
        arguments: [
            ("/v1/flows?filter=statsu%3D1", 400), ("/v1/flows?limit=0", 400), ("/v1/flows?limit=1001", 400),
            ("/v1/flows?before=1&after=1", 400), ("/v1/flows?filters=x", 400), ("/v1/flows/dead", 404),
            ("/v1/flows/..", 404), ("/v1/flows/1/replay", 405), ("/v1/flows.har?limit=0", 400),
            ("/v1/flows/stream?filter=x", 400),
        ])
    func refusals(_ path: String, _ status: Int) {
        #expect(Self.ask(Self.shelf(), "GET", path)?.status == status)
    }

    @Test("Where no journal is kept, that is said")
    func none() {
        let shelf = Self.shelf()
        shelf.keepsFlows = false
        for path in ["/v1/flows", "/v1/flows/1", "/v1/flows/stream", "/v1/flows.har"] {
            #expect(Self.ask(shelf, "GET", path)?.status == 409)
        }
        #expect(Self.ask(shelf, "POST", "/v1/flows/1/replay")?.status == 409 && shelf.replayed.isEmpty)
    }

    @Test("A flow has its messages, what happened, and its calls")
    func whole() throws {
        let shelf = Self.shelf()
        shelf.add(31, status: 200, body: [0xFF], parent: 32)
        shelf.add(32, status: 200, body: Array("text".utf8))
        let flow = try #require(Self.ask(shelf, "GET", "/v1/flows/20")).body
        #expect(flow["flow"]?["id"]?.text == "20" && flow["request"]?["fields"]?.items?.count == 2)
        #expect(flow["response"]?["body"]?["text"]?.text == "text" && flow["sent"] == .null)
        #expect(flow["calls"]?[0]?["response"]?["body"]?["base64"]?.text == "/w==")
        #expect(flow["events"]?[0]?["text"]?.text == "x")
    }

    @Test("An archive is JSON, in pages")
    func archive() throws {
        let answer = try #require(Self.ask(Self.shelf(), "GET", "/v1/flows.har?limit=20&after=5"))
        guard case .bytes(let bytes, _) = answer.content else { return #expect(Bool(false)) }
        let log = try #require(JSONValue(parsing: bytes)["log"])
        #expect(log["entries"]?.items?.count == 20 && log["_next"]?.integer == 25)
    }

    @Test("A flow is copied in a form that there is")
    func copies() {
        let shelf = Self.shelf()
        for form in FlowCopy.allCases {
            let answer = Self.ask(shelf, "GET", "/v1/flows/1/copy?as=\(form)")
            guard case .bytes(let bytes, _)? = answer?.content else { return #expect(Bool(false)) }
            #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("\(form) "))
        }
        for query in ["", "?as=", "?as=wget"] {
            #expect(Self.ask(shelf, "GET", "/v1/flows/1/copy\(query)")?.status == 400)
        }
        #expect(Self.ask(shelf, "GET", "/v1/flows/none/copy?as=curl")?.status == 404)
        #expect(Self.ask(shelf, "GET", "/v1/flows/1/copy?as=curl&reveal=true")?.status == 403)
    }

    @Test("Edits of a replay are read strictly")
    func edits() {
        let shelf = Self.shelf()
        func ask(_ body: String) -> Int? {
            var fields = FieldTable()
            fields.add("Content-Type", "application/json")
            let request = ControlRequest("POST", "/v1/flows/1/replay", fields: fields, body: Array(body.utf8))
            guard case .later(_, _, let make) = ControlRouter(FlowRoutes(shelf).all).reply(request) else { return nil }
            make(ControlPromise { _ in })
            return 200
        }
        #expect(ask(#"{"force":true,"edits":{"method":"PUT","headers":[["A","1"],["A","2"]],"body":""}}"#) == 200)
        let wish = shelf.replayed.last?.wish
        #expect(
            wish?.isForced == true && wish?.edits.method == "PUT" && wish?.edits.body == "" && wish?.edits.url == nil)
        #expect(wish?.edits.fields?.map(\.value) == ["1", "2"])
        for odd in [
            "[]", #"{"force":1}"#, #"{"edits":[]}"#, #"{"edits":{"headers":{}}}"#, #"{"edits":{"headers":[["A"]]}}"#,
            #"{"edits":{"headers":[["A",1]]}}"#, #"{"edits":{"verb":""}}"#, #"{"other":1}"#, #"{"edits":{"body":1}}"#,
        ] { #expect(ask(odd) == nil) }
    }

    @Test("A stream follows a filter, and a request is sent again by POST alone")
    func others() {
        let shelf = Self.shelf()
        #expect(Self.ask(shelf, "POST", "/v1/flows/1/replay?force=true")?.status == 200)
        #expect(shelf.replayed.map(\.id) == ["1"] && shelf.replayed.allSatisfy(\.wish.isForced))
        guard
            case .following(let follow) = ControlRouter(FlowRoutes(shelf).all).reply(
                ControlRequest("GET", "/v1/flows/stream?after=7&filter=status%3D5xx"))
        else { return #expect(Bool(false)) }
        final class Follower: ControlFollower {
            func send(_ event: ServerEvent) -> Bool { true }
            func end() {}
        }
        _ = follow(Follower())
        #expect(shelf.followed?.after == 7)
    }
}
