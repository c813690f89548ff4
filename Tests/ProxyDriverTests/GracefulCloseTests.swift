import Testing

@testable import ProxyDriver

/// How long a client is waited for that has not taken all.
@Suite struct GracefulCloseTests {
    @Test func whatWasTakenIsNotWaitedFor() {
        var close = GracefulClose(.reset)
        #expect(close.next(untaken: 0, now: 0) == nil)
    }

    @Test func itIsLookedMoreAndMoreSeldom() {
        var close = GracefulClose(.reset)
        #expect(
            [0, 5, 15, 35, 75, 155, 255].map { close.next(untaken: 9, now: $0) } == [5, 15, 35, 75, 155, 255, 355])
    }

    @Test func aClientThatTakesNothingIsGivenUp() {
        var close = GracefulClose(.reset)
        #expect(close.next(untaken: 9, now: 0) != nil && close.next(untaken: 9, now: 1_999) != nil)
        #expect(close.next(untaken: 9, now: 2_000) == nil)
    }

    @Test func whoeverTakesSomethingHasItsTime() {
        var close = GracefulClose(.reset)
        #expect(close.next(untaken: 9, now: 0) != nil && close.next(untaken: 8, now: 1_999) != nil)
        #expect(close.next(untaken: 8, now: 3_998) != nil && close.next(untaken: 8, now: 3_999) == nil)
    }
}
