import Testing

@testable import Scripts

@Suite struct WorkerLifeTests {
    /// Every life that a few events lead to.
    private func lives() -> [WorkerLife] {
        var all = [WorkerLife(longestRest: 5_000, now: 0)]
        var last = all
        for step in 1...5 {
            last = last.flatMap { life in
                WorkerLife.Event.allCases.map { event in
                    var life = life
                    _ = life.take(event, now: step * 1000)
                    return life
                }
            }
            all += last
        }
        return all
    }

    @Test func eachStepIsLegal() {
        for life in lives() {
            for event in WorkerLife.Event.allCases {
                var next = life
                _ = next.take(event, now: 100_000)
                #expect(
                    next == life || next.stage == life.stage && next.deadline != life.deadline
                        || WorkerLife.legal(life.stage).contains(next.stage), "\(life.stage) \(event) \(next.stage)")
            }
        }
    }

    @Test func aStageThatWaitsHasADeadline() {
        for life in lives() { #expect((life.deadline == nil) == [.ready, .gone].contains(life.stage)) }
    }

    @Test func theRestDoublesUpToItsLimitAndIsForgotten() {
        var life = WorkerLife(longestRest: 350, now: 0)
        var rests: [Int] = []
        for _ in 0..<4 {
            #expect(life.take(.exited, now: 0) == .none)
            rests.append(life.rest)
            #expect(life.take(.elapsed, now: 0) == .start)
        }
        #expect(rests == [100, 200, 350, 350])
        _ = life.take(.hello, now: 0)
        _ = life.take(.broke, now: 60_000)
        _ = life.take(.exited, now: 60_001)
        #expect(life.rest == 100 && life.restarts == 4)
    }

    @Test func aWorkerThatSaysNothingIsKilled() {
        var life = WorkerLife(longestRest: 350, now: 0)
        #expect(life.take(.elapsed, now: 10_000) == .kill)
        #expect(life.take(.elapsed, now: 11_000) == .kill)
        #expect(life.take(.dismissed, now: 11_000) == .leave)
        #expect(life.take(.exited, now: 11_000) == .none && life.stage == .gone)
        #expect(life.take(.wanted, now: 12_000) == .start && life.stage == .starting)
    }
}
