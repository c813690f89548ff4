import Control
import Formats
import Journal
import Testing

/// What is asked about logins, and what is answered.
struct JourneyRoutesTests {
    /// Answers at once.
    private final class Shelf: FlowDirectory {
        var ring = FlowRing(budget: 1 << 20)
        var keepsFlows = true
        var isBusy = false
        let time = 1_700_000_060_000
        let version = "0"
        let disk: (any FlowDisk)? = nil
        let secrets: SecretSource? = nil
        static func clock() -> Int { 0 }

        func ask(_ query: @escaping @Sendable (FlowRing) -> Void) -> Bool {
            guard !isBusy else { return false }
            query(ring)
            return true
        }

        func wait(
            for count: Int, of filter: FlowFilter, after: Int, until time: Int,
            isWanted: @escaping @Sendable () -> Bool, _ query: @escaping @Sendable (FlowRing) -> Void
        ) -> Bool {
            false
        }

        func follow(
            _ filter: FlowFilter, after: Int?, _ follower: any ControlFollower,
            event: @escaping @Sendable (PackedFlow) -> ServerEvent
        ) -> () -> Void { {} }

        func replay(_ id: String, _ wish: ReplayWish, _ secrets: SecretSource?, _ promise: ControlPromise) {}
        static func copy(_ flow: JSONValue, as form: FlowCopy) throws(ControlProblem) -> [UInt8] { [] }
        static func note(_ words: String) {}

        func add(_ id: Int, _ action: String, _ request: String, _ answer: String, status: Int = 200) {
            var packer = FlowPacker()
            for (number, value) in [
                (FlowNumber.id, id), (.sequence, id), (.began, time + id * 10), (.duration, 5), (.status, status),
                (.scheme, 1), (.port, 80),
            ] { packer.set(number, value) }
            packer.set(.client, "127.0.0.1")
            packer.set(.action, action)
            packer.set(.realm, "/")
            packer.set(.method, "POST")
            packer.set(.authority, "am.test")
            packer.set(.target, "/am/json/authenticate")
            packer.set(.requestBody, request)
            packer.set(.responseBody, answer)
            if let flow = PackedFlow(packer.finish()) { ring.append(flow) }
        }
    }

    private static func shelf() -> Shelf {
        let shelf = Shelf()
        for login in 1...5 {
            shelf.add(login * 2 + 0x10, "START_AUTHENTICATE", "", #"{"authId":"authId#\#(login)","callbacks":[]}"#)
            shelf.add(
                login * 2 + 0x11, "AUTHENTICATE", #"{"authId":"authId#\#(login)"}"#,
                #"{"tokenId":"session#\#(login)"}"#)
        }
        return shelf
    }

    private static func ask(_ shelf: Shelf, _ path: String) -> ControlAnswer? {
        final class Box: @unchecked Sendable { var answer: ControlAnswer? }
        let box = Box()
        switch ControlRouter(JourneyRoutes(shelf).all).reply(ControlRequest("GET", path)) {
        case .now(let answer): return answer
        case .later(_, _, let make), .waiting(_, _, let make):
            make(ControlPromise { if box.answer == nil { box.answer = $0 } })
        case .following: return nil
        }
        return box.answer
    }

    @Test("Lists have pages, and say how they go on")
    func lists() throws {
        let shelf = Self.shelf()
        var found: [String] = []
        var before = ""
        for _ in 1...5 {
            let answer = try #require(Self.ask(shelf, "/v1/journeys?limit=2&filter=outcome%3Dsucceeded\(before)"))
            found += (answer.body["journeys"]?.items ?? []).compactMap { $0["id"]?.text }
            guard let next = answer.body["next"]?.integer else { break }
            before = "&before=\(next)"
        }
        #expect(found == ["1a", "18", "16", "14", "12"])
    }

    @Test("One has its steps, by the id of any of them")
    func one() throws {
        let answer = try #require(Self.ask(Self.shelf(), "/v1/journeys/15"))
        #expect(answer.body["journey"]?["id"]?.text == "14" && answer.body["steps"]?.items?.count == 2)
        #expect(answer.body["tokens"]?[0]?["alias"]?.text == "session#2" && answer.body["from"] == .null)
    }

    @Test(
        "What is asked for wrongly is refused with the reason",
        arguments: [
            ("/v1/journeys?filter=outcome%3Dx", 400, "outcome takes"), ("/v1/journeys?limit=1001", 400, "limit"),
            ("/v1/journeys/dead", 404, "the newest are 1a, 18"), ("/v1/journeys/1", 409, "matches several"),
        ])
    func refusals(_ path: String, _ status: Int, _ words: String) {
        let answer = Self.ask(Self.shelf(), path)
        #expect(answer?.status == status && answer?.body["detail"]?.text?.contains(words) == true)
    }

    @Test("Where nothing is kept, or too many ask, that is said")
    func none() {
        let shelf = Shelf()
        #expect(Self.ask(shelf, "/v1/journeys/1")?.body["detail"]?.text?.contains("there is none") == true)
        shelf.isBusy = true
        #expect(Self.ask(shelf, "/v1/journeys")?.status == 503)
        shelf.keepsFlows = false
        #expect(Self.ask(shelf, "/v1/journeys")?.status == 409 && Self.ask(shelf, "/v1/journeys/1")?.status == 409)
    }
}
