import EventLoop
import Testing

@Suite("Alarms", .timeLimit(.minutes(1)))
struct AlarmTests {
    @Test func ringsOnceAtItsTime() throws {
        let loop = try Loop()
        var rung: [Int] = []
        let start = Loop.monotonicMilliseconds()
        let alarm = try Alarm(loop: loop) { rung.append(loop.now) }
        #expect(alarm.set(milliseconds: 20))
        // with nothing left to wait for the loop ends by itself
        loop.run()
        #expect(rung.count == 1 && rung.allSatisfy { $0 - start >= 19 })
        #expect(alarm.set(milliseconds: 0))
        loop.run()
        #expect(rung.count == 2)
        alarm.cancel()
    }

    @Test func theLastTimeCounts() throws {
        let loop = try Loop()
        var order: [String] = []
        let late = try Alarm(loop: loop) { order.append("late") }
        let early = try Alarm(loop: loop) { order.append("early") }
        #expect(late.set(milliseconds: 1) && late.set(milliseconds: 30) && early.set(milliseconds: 10))
        loop.run()
        #expect(order == ["early", "late"])
        late.cancel()
        early.cancel()
    }

    @Test func aCancelledOneIsSilent() throws {
        let loop = try Loop()
        var rung = 0
        let alarm = try Alarm(loop: loop) { rung += 1 }
        #expect(alarm.set(milliseconds: 0))
        alarm.cancel()
        #expect(!alarm.set(milliseconds: 0))
        loop.run()
        #expect(rung == 0)
    }
}
