import Authorization
import Formats
import ProxyCore
import Testing

@testable import Operation

@Suite("Text of others on a terminal")
struct TerminalTextTests {
    /// CSI in one byte, a mark that turns the reading direction round, an escape, and a mark beyond the first plane.
    private static let odd = "a\u{9B}31m\u{202E}b\u{1B}[0m\u{E0001}c"

    @Test func jsonSaysTheSameAndSteersNothing() throws {
        let value: JSONValue = ["prompt": .string(Self.odd)]
        let text = TerminalText.json(value)
        #expect(text == #"{"prompt":"a\u009B31m\u202Eb\u001B[0m\uDB40\uDC01c"}"#)
        #expect(try JSONValue(parsing: Array(text.utf8)) == value)
    }

    @Test func whatACommandIsToldSteersNothing() {
        var chance = SystemRandomNumberGenerator()
        var ledger = TransactionLedger<Int>()
        let transaction = OpenTransaction(
            client: .init(address: "192.0.2.1", network: "192.0.2.1", user: nil), method: "GET",
            resource: "http://shop.test/", server: "http://am.test/am", realm: "/", tree: Self.odd,
            step: OpenStep(.callbacks([])), since: 0, until: 1000)
        guard case .parked(let id, _) = ledger.park(transaction, 0, using: &chance).parking else {
            Issue.record("full")
            return
        }
        #expect(Notifier.variables(id, transaction)["USHER_TREE"] == "a 31m b [0m c")
    }
}
