import Testing

@testable import Authorization

/// Two processes change the same document.
@Suite struct DocumentChangeTests {
    private func merged(_ before: String?, _ value: String?, _ known: String?, _ space: StateSpace = .counters)
        -> String?
    {
        func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }
        let change = DocumentChange(before: bytes(before), value: bytes(value))
        return change.merged(into: bytes(known), of: space).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func whoComesLastHasHisWay() {
        #expect(merged("1", "2", "1", .devices) == "2" && merged("1", "2", "9", .devices) == "2")
        #expect(merged("1", nil, "9", .devices) == nil && merged(nil, "a", nil) == "a")
    }

    @Test func noCounterGoesBack() {
        #expect(merged("5", "6", "10") == "10" && merged("5", "11", "10") == "11")
        #expect(merged(nil, "0", "3") == "3")
    }

    /// A clock that was wrong is set right, and one that reads what it does not know goes on.
    @Test func oneThatIsSetBackIs() {
        #expect(merged("10", "6", "10") == "6")
        #expect(merged("5", "6", "x") == "6" && merged("5", nil, "10") == nil)
    }
}
