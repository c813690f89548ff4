import Journal
import Testing

/// Who waits for flows that are to come.
struct FlowWaitsTests {
    private func flows(_ statuses: [Int]) -> [PackedFlow] {
        statuses.map { status in FlowSamples.flow { $0.status = status } }
    }

    @Test("A wait is satisfied once, as soon as enough flows match")
    func told() throws {
        var waits = FlowWaits<String>()
        waits.add(try FlowFilter(["status=5xx"], now: 0), missing: 2, until: 100, isWanted: { true }, now: 0, "two")
        waits.add(FlowFilter(), missing: 1, until: 100, isWanted: { true }, now: 0, "any")
        var told: [[String]] = []
        for (statuses, now) in [([200], 1), ([500, 404], 2), ([404, 503, 500], 99), ([500, 500], 99)] {
            told.append(waits.take(flows(statuses), now: now))
        }
        #expect(told == [["any"], [], ["two"], []] && waits.count == 0)
    }

    @Test("A wait ends with its time limit, and when its caller has gone")
    func ends() {
        var waits = FlowWaits<Int>()
        for (number, until) in [10, 20, 30].enumerated() {
            waits.add(FlowFilter(), missing: 1, until: until, isWanted: { number != 1 }, now: 0, number)
        }
        // the one that nobody wants went when the next one came
        #expect(waits.count == 2)
        waits.add(FlowFilter(), missing: 1, until: 40, isWanted: { false }, now: 10, 3)
        #expect(waits.count == 2)
        let told = waits.take(flows([200]), now: 10)
        #expect(told == [2] && waits.count == 0)
    }
}
