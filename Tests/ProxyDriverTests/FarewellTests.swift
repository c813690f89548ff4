import Testing

@testable import ProxyDriver

/// How long a client is waited for that has not taken all.
@Suite struct FarewellTests {
    @Test func whatWasTakenIsNotWaitedFor() {
        var farewell = Farewell(.reset)
        #expect(farewell.next(untaken: 0, now: 0) == nil)
    }

    @Test func itIsLookedMoreAndMoreSeldom() {
        var farewell = Farewell(.reset)
        #expect(
            [0, 5, 15, 35, 75, 155, 255].map { farewell.next(untaken: 9, now: $0) } == [5, 15, 35, 75, 155, 255, 355])
    }

    @Test func aClientThatTakesNothingIsGivenUp() {
        var farewell = Farewell(.reset)
        #expect(farewell.next(untaken: 9, now: 0) != nil && farewell.next(untaken: 9, now: 1_999) != nil)
        #expect(farewell.next(untaken: 9, now: 2_000) == nil)
    }

    @Test func whoeverTakesSomethingHasItsTime() {
        var farewell = Farewell(.reset)
        #expect(farewell.next(untaken: 9, now: 0) != nil && farewell.next(untaken: 8, now: 1_999) != nil)
        #expect(farewell.next(untaken: 8, now: 3_998) != nil && farewell.next(untaken: 8, now: 3_999) == nil)
    }
}
