import Journal
import Testing

/// Pages of what is kept, and flows by their ids.
struct FlowQueryTests {
    private static func ring(_ count: Int, _ change: (Int, inout FlowSamples.Sample) -> Void = { _, _ in }) -> FlowRing
    {
        var ring = FlowRing(budget: 64 << 20)
        for number in 1...count {
            ring.append(
                FlowSamples.flow {
                    ($0.id, $0.sequence, $0.status) = (number + 0x1000, number, number % 10 == 0 ? 500 : 200)
                    change(number, &$0)
                })
        }
        return ring
    }

    private static func sequences(_ page: FlowQuery.Page) -> [Int] { page.flows.map { $0[.sequence] } }

    @Test("Pages have no gaps between them, in either order")
    func pages() throws {
        let ring = Self.ring(100)
        let filter = try FlowFilter(["status=5xx"], now: 0)
        var query = FlowQuery(filter, limit: 4)
        var page = query.run(ring)
        #expect(Self.sequences(page) == [100, 90, 80, 70])
        query.order = .newestFirst(before: try #require(page.next))
        page = query.run(ring)
        #expect(Self.sequences(page) == [60, 50, 40, 30])
        query.order = .newestFirst(before: try #require(page.next))
        page = query.run(ring)
        #expect(Self.sequences(page) == [20, 10] && page.next == nil)
        query.order = .oldestFirst(after: 55)
        page = query.run(ring)
        #expect(Self.sequences(page) == [60, 70, 80, 90])
        query.order = .oldestFirst(after: try #require(page.next))
        page = query.run(ring)
        #expect(Self.sequences(page) == [100] && page.next == nil)
    }

    @Test("A search that takes too long stops, and the next page continues there")
    func patience() throws {
        let ring = Self.ring(3000)
        var query = FlowQuery(try FlowFilter(["status=5xx"], now: 0), limit: 1000)
        var found: [Int] = []
        var looks = 0
        while true {
            let page = query.run(ring) { true }
            found += Self.sequences(page)
            looks += 1
            guard let next = page.next else { break }
            query.order = .newestFirst(before: next)
        }
        #expect(found == Array(stride(from: 3000, through: 10, by: -10)) && looks > 3)
    }

    @Test("A flow is found by its id, or by a unique start or end of the id")
    func finding() {
        let ring = Self.ring(300)
        func found(_ text: String) -> UInt64? { if case .one(let flow) = ring.find(text) { flow.id } else { nil } }
        #expect(found("1001") == 0x1001 && found("10FF") == 0x10FF && found("ff") == 0x10FF && found("0ff") == 0x10FF)
        #expect(found("") == nil && found("xyz") == nil && found("1001 ") == nil)
        guard case .several(let ids) = ring.find("10") else { return #expect(Bool(false)) }
        #expect(ids.count == 5)
        guard case .none = ring.find("dead") else { return #expect(Bool(false)) }
    }

    @Test("The calls of a flow are in order")
    func calls() {
        let ring = Self.ring(20) { number, sample in if number < 4 { sample.parent = 0x1014 } }
        #expect(ring.calls.mapValues { $0.map { $0[.sequence] } } == [0x1014: [1, 2, 3]])
    }

    @Test("A search through many flows is fast")
    func speed() throws {
        let ring = Self.ring(20_000)
        let clock = ContinuousClock()
        for terms in [["status=404"], ["header.x-absent=*"], ["path=/nowhere*", "query.y=1"], ["host=*.nowhere"]] {
            let query = FlowQuery(try FlowFilter(terms, now: 0), limit: 100)
            let time = clock.measure { #expect(query.run(ring).flows.isEmpty) }
            // without an optimizer; with it, 100,000 take less than 100 ms (docs/operate.md)
            #expect(time < .seconds(2), "\(terms)")
        }
    }
}
