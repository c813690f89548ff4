import Glibc
import Testing

@testable import EventLoop

@Suite("Work that may block", .timeLimit(.minutes(1)))
struct ExecutorTests {
    /// Work that stands still until it is let go of.
    private final class Gate: Sendable {
        private let state = Locked((inside: 0, isOpen: false))

        func pass() {
            state.signalAll { $0.inside += 1 }
            state.wait { $0.isOpen ? () : nil }
        }

        func waitUntilInside(_ count: Int) { state.wait { $0.inside == count ? () : nil } }
        var inside: Int { state.withLock { $0.inside } }
        func open() { state.signalAll { $0.isOpen = true } }
    }

    private static let long = 30_000

    @Test func oneKindIsDoneInItsOrder() throws {
        let queue = WorkQueue("order", waiting: 100)
        let done = Locked<[Int]>([])
        let gate = Gate()
        try queue.run { gate.pass() }
        gate.waitUntilInside(1)
        for number in 0..<100 { try queue.run { done.withLock { $0.append(number) } } }
        #expect(done.withLock { $0 } == [])
        gate.open()
        #expect(queue.rests(withinMilliseconds: Self.long))
        #expect(done.withLock { $0 } == Array(0..<100))
    }

    @Test func beyondItsBoundItIsRefusedByName() throws {
        let queue = WorkQueue("bound", waiting: 2)
        let done = Locked(0)
        let gate = Gate()
        try queue.run { gate.pass() }
        gate.waitUntilInside(1)
        for _ in 0..<2 { try queue.run { done.withLock { $0 += 1 } } }
        #expect {
            try queue.run { done.withLock { $0 += 1 } }
        } throws: { error in
            if case WorkQueue.Refusal.full = error { true } else { false }
        }
        gate.open()
        #expect(queue.rests(withinMilliseconds: Self.long))
        #expect(done.withLock { $0 } == 2)
        // there is room again
        try queue.run { done.withLock { $0 += 1 } }
        #expect(queue.rests(withinMilliseconds: Self.long))
        #expect(done.withLock { $0 } == 3)
    }

    @Test func noMoreThanItsNumberRunAtOnce() throws {
        let queue = WorkQueue("width", atOnce: 3, waiting: 5)
        let gate = Gate()
        for _ in 0..<5 { try queue.run { gate.pass() } }
        gate.waitUntilInside(3)
        // one is under way for as long as this takes
        let other = WorkQueue("other")
        try other.run {}
        #expect(other.rests(withinMilliseconds: Self.long))
        #expect(gate.inside == 3)
        gate.open()
        #expect(queue.rests(withinMilliseconds: Self.long))
        #expect(gate.inside == 5)
    }

    @Test func aKindThatHangsHoldsUpNoOther() throws {
        let gate = Gate()
        let hanging = (0..<8).map { _ in WorkQueue("hangs", atOnce: 2) }
        for queue in hanging {
            for _ in 0..<3 { try queue.run { gate.pass() } }
        }
        gate.waitUntilInside(16)
        let done = Locked(false)
        let queue = WorkQueue("goes on")
        try queue.run { done.withLock { $0 = true } }
        #expect(queue.rests(withinMilliseconds: Self.long))
        #expect(done.withLock { $0 })
        gate.open()
        for queue in hanging { #expect(queue.rests(withinMilliseconds: Self.long)) }
    }

    /// However many kinds come one after the other.
    @Test func threadsServeMoreThanOnce() throws {
        let threads = Locked(Set<pthread_t>())
        for _ in 0..<200 {
            let queue = WorkQueue("short")
            try queue.run { threads.withLock { _ = $0.insert(pthread_self()) } }
            try #require(queue.rests(withinMilliseconds: Self.long))
        }
        // other tests have their work done at the same time
        #expect(threads.withLock { $0.count } < 100)
    }

    @Test func theEndWaitsForWhatHasBegunButNotForEver() throws {
        let queue = WorkQueue("end", waiting: 10)
        let gate = Gate()
        let isDone = Locked(false)
        try queue.run { gate.pass() }
        gate.waitUntilInside(1)
        try queue.run { isDone.withLock { $0 = true } }
        #expect(!queue.rests(withinMilliseconds: 20))
        #expect(!queue.rests(withinMilliseconds: 20, dropping: true))
        gate.open()
        #expect(queue.rests(withinMilliseconds: Self.long))
        #expect(!isDone.withLock { $0 })
    }

    /// Whatever was done is not kept alive by the thread that did it.
    @Test func whatIsDoneIsLetGoOf() async throws {
        final class Held: Sendable {}
        weak var watched: Held?
        let queue = WorkQueue("held")
        do {
            let held = Held()
            watched = held
            try queue.run { withExtendedLifetime(held) {} }
        }
        while watched != nil { await Task.yield() }
    }
}
