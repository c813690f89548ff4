import Testing

@testable import ProxyCore

@Suite("Bytes at a limited rate")
struct PacedBytesTests {
    /// What a body did not send while nothing of it was here does not come in one piece later.
    @Test func whatWasNotUsedIsNotSavedUp() {
        var paced = PacedBytes(rate: 1_000, now: 0)
        paced.append([UInt8](repeating: 7, count: 50_000).span)
        let first = paced.take(100)
        #expect(first.count == 100)
        // ten seconds in which nobody asked
        let late = paced.take(10_100)
        #expect(late.count == 200)
        #expect(paced.waiting == 50_000 - 300 && paced.next(10_100) == 10_150)
    }

    @Test func withoutARateAllGoesAtOnce() {
        var paced = PacedBytes(rate: nil, Array("all".utf8), now: 0)
        #expect(paced.next(5) == 5)
        let all = paced.take(5)
        #expect(all == Array("all".utf8) && paced.waiting == 0 && paced.next(5) == nil)
    }
}
