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
        var replayed: [(id: String, isForced: Bool)] = []
        var followed: (filter: FlowFilter, after: Int?)?
        let time = 1_700_000_060_000
        let version = "0"
        static func clock() -> Int { 0 }

        func ask(_ query: @escaping @Sendable (FlowRing) -> Void) -> Bool {
            query(ring)
            return true
        }

        func follow(
            _ filter: FlowFilter, after: Int?, _ follower: any ControlFollower,
            event: @escaping @Sendable (PackedFlow) -> ServerEvent
        ) -> () -> Void {
            followed = (filter, after)
            return {}
        }

        func replay(_ id: String, isForced: Bool, _ promise: ControlPromise) {
            replayed.append((id, isForced))
            promise.keep(ControlAnswer(.object([])))
        }

        func add(_ id: Int, status: Int, body: [UInt8] = [], parent: Int = 0) {
            var packer = FlowPacker()
            for (number, value) in [
                (FlowNumber.id, id), (.parent, parent), (.sequence, id), (.began, time), (.status, status),
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
            if let flow = PackedFlow(packer.finish()) { ring.append(flow) }
        }
    }

    private static func ask(_ shelf: Shelf, _ method: String, _ path: String) -> ControlAnswer? {
        final class Box: @unchecked Sendable { var answer: ControlAnswer? }
        let box = Box()
        switch ControlRouter(FlowRoutes(shelf).all).reply(ControlRequest(method, path)) {
        case .now(let answer): return answer
        case .later(_, let make): make(ControlPromise { if box.answer == nil { box.answer = $0 } })
        case .following: return nil
        }
        return box.answer
    }

    private static func shelf() -> Shelf {
        let shelf = Shelf()
        for id in 1...30 { shelf.add(id, status: id % 10 == 0 ? 500 : 200) }
        return shelf
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

    @Test("A stream follows a filter, and a request is sent again by POST alone")
    func others() {
        let shelf = Self.shelf()
        #expect(Self.ask(shelf, "POST", "/v1/flows/1/replay?force=true")?.status == 200)
        #expect(shelf.replayed.map(\.id) == ["1"] && shelf.replayed.allSatisfy(\.isForced))
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
