import Testing

@testable import Interception

/// Several answers of one `respond`, in turn.
@Suite struct ResponseSequenceTests {
    @Test func eachHasItsTurnAndTheLastStays() {
        let counter = ResponseSequence([2, 1])
        #expect((0..<6).map { _ in counter.next() } == [0, 0, 1, 2, 2, 2])
    }

    /// Both phases, every attempt and whatever is tried on copies go by the same one.
    @Test func anExchangeHasOneTurn() {
        let counter = ResponseSequence([1])
        var first = RuleMemory()
        var second = RuleMemory()
        #expect(first.turn(at: counter) == 0 && first.turn(at: counter) == 0)
        #expect(second.turn(at: counter) == 1 && first.turn(at: counter) == 0)
    }
}
