import Interception
import Journal
import Testing

/// Flows in one piece of memory, and the ring that keeps them.
struct PackedFlowTests {
    private static func flow(_ id: Int, sequence: Int = 0, body: Int = 0) -> [UInt8] {
        var packer = FlowPacker()
        packer.set(.id, id)
        packer.set(.sequence, sequence)
        packer.set(.status, 204)
        packer.set(.client, "127.0.0.1")
        packer.set(.authority, "a.test")
        packer.set(.responseBody, [UInt8](repeating: 0x78, count: body))
        return packer.finish()
    }

    private static func packed(_ id: Int, sequence: Int = 0, body: Int = 0) throws -> PackedFlow {
        try #require(PackedFlow(flow(id, sequence: sequence, body: body)))
    }

    @Test("A flow returns its numbers and parts")
    func roundTrip() throws {
        let flow = try Self.packed(7, body: 3)
        #expect(flow.id == 7 && flow[.status] == 204 && flow[.port] == 0 && flow.time(.sent) == nil)
        #expect(flow.text(.client) == "127.0.0.1" && flow.text(.user) == nil && flow.text(.responseBody) == "xxx")
        #expect(flow.count == Self.flow(7, body: 3).count)
    }

    @Test("Truncated bytes, and bytes with wrong ends of parts, are no flow")
    func lies() {
        let whole = Self.flow(1, body: 10)
        for count in 0..<whole.count { #expect(PackedFlow(Array(whole[..<count])) == nil) }
        for place in 0..<8 {
            var changed = whole
            changed[place] ^= 0xFF
            #expect(PackedFlow(changed) == nil)
        }
        for place in (8 + FlowNumber.allCases.count * 8)..<(8 + FlowNumber.allCases.count * 8 + 4) {
            var changed = whole
            changed[place] ^= 0xF0
            #expect(PackedFlow(changed) == nil)
        }
    }

    @Test("A batch returns its flows in order, each with its events")
    func batches() {
        var batch = FlowBatch()
        for (id, events) in [
            (1, []), (2, [ExchangeRecord.Event(.edited(RuleNote("a", "x"), in: .request), at: 3)]), (3, []),
        ] {
            var packer = batch.begin(events)
            packer.set(.id, id)
            batch.end(packer)
        }
        var seen: [(UInt64, Int)] = []
        batch.handOver().forEach { seen.append(($0.id, $1.count)) }
        #expect(seen.map(\.0) == [1, 2, 3] && seen.map(\.1) == [0, 1, 0])
        #expect(batch.isEmpty && batch.events.isEmpty)
    }

    @Test("The oldest flows are dropped for the newest, within the budget")
    func ring() throws {
        let size = Self.flow(1, body: 100).count + 96
        var ring = FlowRing(budget: size * 10)
        for number in 1...5000 {
            ring.append(try Self.packed(number, sequence: number, body: 100))
            #expect(ring.bytes <= ring.budget)
        }
        #expect(ring.count == 10 && ring.dropped == 4990)
        #expect(ring[id: 4990] == nil && ring[id: 4991]?.id == 4991 && ring[id: 5000]?.id == 5000)
        var ids: [UInt64] = []
        ring.newestFirst {
            ids.append($0.id)
            return ids.count < 3
        }
        #expect(ids == [5000, 4999, 4998])
        ids = []
        ring.oldestFirst(after: 4997) {
            ids.append($0.id)
            return true
        }
        #expect(ids == [4998, 4999, 5000])
        ring.setBudget(size * 2)
        #expect(ring.count == 2)
        ring.append(try Self.packed(9999, body: 10_000))
        #expect(ring.count == 2 && ring.dropped == 4999)
    }
}
