import Synchronization
import Testing

@testable import Interceptors

/// Work that calls back.
@Suite struct CompletionTests {
    private struct Failure: Error {}

    @Test func itIsWaitedFor() async throws {
        #expect(try await withCompletion { $0(1) } == 1)
        let later = try await withCompletion(of: Int.self) { done in
            Task.detached { done(2) }
        }
        #expect(later == 2)
        await #expect(throws: Failure.self) { try await withCompletion(of: Int.self) { $0.fail(Failure()) } }
    }

    @Test func theFirstTimeCountsAndTheOthersAreTold() async throws {
        let told = Atomic(0)
        try await CompletionReport.$current.withValue(CompletionReport { told.add(1, ordering: .relaxed) }) {
            let value = try await withCompletion(of: Int.self) { done in
                done(1)
                done(2)
                done.fail(Failure())
            }
            #expect(value == 1)
        }
        #expect(told.load(ordering: .relaxed) == 2)
    }

    @Test func oneThatNeverCompletesEndsWithItsTask() async {
        let (begun, begin) = AsyncStream.makeStream(of: Completion<Int>.self)
        let told = Atomic(0)
        let task = Task {
            try await CompletionReport.$current.withValue(CompletionReport { told.add(1, ordering: .relaxed) }) {
                try await withCompletion(of: Int.self) { begin.yield($0) }
            }
        }
        var kept: Completion<Int>?
        for await completion in begun {
            kept = completion
            break
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        kept?(1)
        #expect(told.load(ordering: .relaxed) == 1, "what comes after that is told as well")
    }
}
