import Authorization
import Interception
import ProxyCore
import Testing

@testable import ProxyDriver

@Suite("The memory of flows")
struct FlowMapTests {
    private func payload(_ tree: String) -> ActionPayload { ActionPayload(tree: tree, type: "service") }

    @Test func whatWasRememberedIsRecalled() {
        var ledger = FlowMap()
        ledger.remember(1, payload("A"))
        ledger.remember(2, ActionPayload(tree: nil, type: nil))
        #expect(ledger.recall(1) == payload("A") && ledger.recall(2) == ActionPayload(tree: nil, type: nil))
        #expect(ledger.recall(3) == nil && ledger.count == 2)
        // a flow that goes on under the same handle
        ledger.remember(1, payload("Bigger"))
        #expect(ledger.recall(1) == payload("Bigger") && ledger.count == 2 && ledger.bytes == 13)
    }

    @Test func theOldestAreForgotten() {
        var ledger = FlowMap(capacity: 3)
        for number in 0..<100 {
            ledger.remember(UInt128(number), payload("T\(number)"))
            #expect(ledger.count == min(number + 1, 3))
            for old in 0...number { #expect((ledger.recall(UInt128(old)) != nil) == (old > number - 3)) }
        }
        #expect(ledger.bytes == 3 * 10)
    }

    @Test func theirBytesAreBounded() {
        var ledger = FlowMap(capacity: 100, maxBytes: 1_000)
        for number in 0..<200 {
            ledger.remember(UInt128(number), payload(String(repeating: "x", count: 193)))
            #expect(ledger.bytes <= 1_000)
        }
        #expect(ledger.count == 5 && ledger.recall(195) != nil && ledger.recall(194) == nil)
        ledger.remember(199, payload(String(repeating: "x", count: 993)))
        #expect(ledger.count == 1 && ledger.bytes == 1_000)
        // too large for all of it: nothing else has to go for it, and the old word does not stand
        ledger.remember(300, payload("small"))
        ledger.remember(300, payload(String(repeating: "x", count: 994)))
        #expect(ledger.recall(300) == nil && ledger.bytes == 0)
        for number in 400..<800 { ledger.remember(UInt128(number), payload("y")) }
        #expect(ledger.count == 100 && ledger.recall(700) != nil && ledger.recall(699) == nil)
    }

    @Test func digestsStandForHandles() {
        let table = FlowTable()
        let long = String(repeating: "a", count: 100_000)
        table.remember(authId: long, payload: payload("A"))
        table.remember(authId: long + "b", payload: payload("B"))
        #expect(table.recall(authId: long) == payload("A") && table.recall(authId: long + "b") == payload("B"))
        #expect(table.recall(authId: "a") == nil)
        #expect(FlowTable().recall(authId: long) == nil)
    }
}

@Suite("The memory of logins")
struct LoginTableTests {
    @Test func loopsCountTogether() {
        let table = LoginTable()
        let limits = Lockout.Limits(refusals: 2, hold: 60_000)
        func key(_ session: String, _ answers: String = "a") -> Lockout.Key? {
            let permission = table.begin(.init(answers: [answers], session: session), limits)
            if case .go(let key) = permission { return key }
            return nil
        }
        let first = key("S")
        let second = key("T")
        #expect(first != nil && second != nil && first?.answers == second?.answers && first != second)
        #expect(key("U") == nil)
        for one in [first, second] { if let one { table.end(one, .refused, granted: false, limits) } }
        let permission = table.begin(.init(answers: ["a"], session: "U"), limits)
        if case .held(let refusals, let milliseconds) = permission {
            #expect(refusals == 2 && milliseconds > 0 && milliseconds <= 60_000)
        } else {
            Issue.record("the answers are given a third time: \(permission)")
        }
        #expect(key("S", "b") != nil)
    }
}
