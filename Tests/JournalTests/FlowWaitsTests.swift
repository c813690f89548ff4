import Journal
import Testing

/// Who waits for flows that are to come.
struct FlowWaitsTests {
    private func flows(_ statuses: [Int]) -> [PackedFlow] {
        statuses.map { status in FlowSamples.flow { $0.status = status } }
    }

    @Test("Whoever waits is told once, as soon as enough have come that fit")
    func told() throws {
        var waits = FlowWaits<String>(most: 3)
        var isTaken = [waits.add(try FlowFilter(["status=5xx"], now: 0), missing: 2, until: 100, now: 0, "two")]
        isTaken.append(waits.add(FlowFilter(), missing: 1, until: 100, now: 0, "any"))
        #expect(isTaken == [true, true])
        var told: [[String]] = []
        for (statuses, now) in [([200], 1), ([500, 404], 2), ([404, 503, 500], 99), ([500, 500], 99)] {
            told.append(waits.take(flows(statuses), now: now))
        }
        #expect(told == [["any"], [], ["two"], []] && waits.isEmpty)
    }

    @Test("There is a bound to how many wait and for how long")
    func bounds() {
        var waits = FlowWaits<Int>(most: 2)
        var isTaken: [Bool] = []
        // the third comes while two wait, the fourth when one has waited long enough
        for (number, (until, now)) in [(10, 0), (20, 0), (20, 9), (30, 10)].enumerated() {
            isTaken.append(waits.add(FlowFilter(), missing: 1, until: until, now: now, number))
        }
        #expect(isTaken == [true, true, false, true])
        let told = waits.take(flows([200]), now: 20)
        #expect(told == [3] && waits.isEmpty)
    }
}
