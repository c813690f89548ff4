import Interception
import Journal
import Testing

@testable import Operation

/// Flows on their way to the journal's thread: what one client does hides nothing of what others do.
@Suite("Flows that wait for the journal")
struct FlowBacklogTests {
    private static let limit = 64 << 10

    /// Flows of about a kibibyte each, with what happened in them.
    private func batch(_ clients: [String], user: String = "", _ size: Int = 1_000) -> FlowBatch {
        var batch = FlowBatch()
        for client in clients {
            var packer = batch.begin([.init(.sent, at: 7), .init(.delivered(status: 200), at: 9)])
            packer.set(.client, client)
            packer.set(.user, user)
            packer.set(.request, String(repeating: "x", count: size))
            batch.end(packer)
        }
        return batch
    }

    private func clients(_ backlog: FlowBacklog) -> [String: Int] {
        var found: [String: Int] = [:]
        for batch in backlog.batches {
            batch.forEach { flow, events in
                found[flow.text(.client) ?? "", default: 0] += 1
                #expect(events.map(\.at) == [7, 9])
            }
        }
        return found
    }

    private func bytes(_ backlog: FlowBacklog) -> Int { backlog.batches.reduce(0) { $0 + $1.bytes.count } }

    @Test func aFloodLeavesRoomForOthers() {
        var backlog = FlowBacklog(limit: Self.limit)
        for port in 1...200 { backlog.add(batch(["192.0.2.1:\(port)"])) }
        #expect(bytes(backlog) <= Self.limit / 4 * 3 && backlog.lost > 100)
        let lost = backlog.lost
        for port in 1...8 { backlog.add(batch(["192.0.2.2:\(port)"])) }
        #expect(backlog.lost == lost && clients(backlog).keys.filter { $0.hasPrefix("192.0.2.2:") }.count == 8)
        // in one batch with those of others
        backlog.add(batch(["192.0.2.1:9", "192.0.2.3:1", "192.0.2.1:9", "192.0.2.3:1"]))
        #expect(backlog.lost == lost + 2)
        #expect(clients(backlog)["192.0.2.3:1"] == 2 && clients(backlog)["192.0.2.1:9"] ?? 0 <= 1)
        // what was taken counts for nobody any more
        backlog.clear()
        for number in 0..<50 { backlog.add(batch(["198.51.100.\(number):1"])) }
        backlog.add(batch(["192.0.2.1:9"]))
        #expect(backlog.lost == lost + 2)
    }

    @Test func nobodyIsCountedWhereThereIsRoom() {
        var backlog = FlowBacklog(limit: Self.limit)
        for _ in 0..<35 { backlog.add(batch(["192.0.2.1:1"])) }
        #expect(backlog.lost == 0 && clients(backlog) == ["192.0.2.1:1": 35])
    }

    /// However many clients there are.
    @Test func theBoundHolds() {
        var backlog = FlowBacklog(limit: Self.limit)
        for number in 0..<200 { backlog.add(batch(["192.0.2.\(number):1"])) }
        let kept = clients(backlog).values.reduce(0, +)
        #expect(bytes(backlog) <= Self.limit && bytes(backlog) > Self.limit - 4_000)
        #expect(kept + backlog.lost == 200)
        backlog.clear()
        #expect(backlog.isEmpty && backlog.lost == 200 - kept)
        // and all of them begin anew
        for _ in 0..<30 { backlog.add(batch(["192.0.2.1:1"])) }
        #expect(backlog.lost == 200 - kept)
    }

    /// As clients are counted everywhere: a network that is one's own, or the user.
    @Test(
        arguments: [
            ("127.0.0.1:1", "", "127.9.9.9:2", "", true), ("127.0.0.1:1", "", "[::1]:2", "", true),
            ("[2001:db8::1]:1", "", "[2001:db8::2:3]:1", "", true),
            ("[2001:db8::1]:1", "", "[2001:db8:0:1::1]:1", "", false),
            ("192.0.2.1:1", "", "[::ffff:192.0.2.1]:1", "", true),
            ("192.0.2.1:1", "ada", "198.51.100.1:1", "ada", true), ("192.0.2.1:1", "ada", "192.0.2.1:1", "bob", false),
            ("192.0.2.1:1", "ada", "192.0.2.1:1", "", false), ("usher", "", "usher", "", true),
        ])
    func whoIsOneClient(_ one: String, _ user: String, _ other: String, _ otherUser: String, isOne: Bool) {
        var backlog = FlowBacklog(limit: Self.limit)
        for _ in 0..<100 { backlog.add(batch([one], user: user)) }
        let lost = backlog.lost
        backlog.add(batch([other], user: otherUser))
        #expect(backlog.lost == (isOne ? lost + 1 : lost))
    }

    /// One that is larger than any client's part is kept where there is room for it, and where its client has nothing else.
    @Test func oneThatIsLargeHasItsChance() {
        var backlog = FlowBacklog(limit: Self.limit)
        for _ in 0..<40 { backlog.add(batch(["192.0.2.1:1"])) }
        let before = backlog.lost
        backlog.add(batch(["192.0.2.2:1"], 16_500))
        #expect(backlog.lost == before && clients(backlog)["192.0.2.2:1"] == 1)
        backlog.add(batch(["192.0.2.2:1"], 10))
        backlog.add(batch(["192.0.2.3:1"], 16_500))
        #expect(backlog.lost == before + 2)
    }
}
