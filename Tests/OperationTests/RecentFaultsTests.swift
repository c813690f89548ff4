import Testing

@testable import Operation

@Suite("What went wrong last")
struct RecentFaultsTests {
    @Test func theLastEightAreRemembered() {
        let faults = RecentFaults()
        for number in 1...20 { faults.add("\(number)") }
        #expect(faults.all.map(\.text) == (13...20).map { "\($0)" })
    }
}
