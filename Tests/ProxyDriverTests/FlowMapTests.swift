import Authorization
import EventLoop
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
        let table = FlowTable(FlowMap())
        let long = String(repeating: "a", count: 100_000)
        table.remember(authId: long, payload: payload("A"))
        table.remember(authId: long + "b", payload: payload("B"))
        #expect(table.recall(authId: long) == payload("A") && table.recall(authId: long + "b") == payload("B"))
        #expect(table.recall(authId: "a") == nil)
        #expect(FlowTable(FlowMap()).recall(authId: long) == nil)
    }
}

@Suite("The memory of logins")
struct LoginTableTests {
    private let limits = Lockout.Limits(refusals: 2, hold: 60_000)

    @Test func loopsCountTogether() throws {
        let table = LoginTable(LoginLedger())
        let loops = try (0..<2).map { _ in try Loop() }
        defer { withExtendedLifetime(loops) {} }
        let desks = try loops.map { Desk(table, try WaitingExchanges(loop: $0)) }
        func key(_ session: String, _ answers: String = "a", at desk: Int) -> Lockout.Key? {
            let permission = desks[desk].begin(.init(answers: [answers], session: session), limits)
            if case .go(let key) = permission { return key }
            return nil
        }
        let first = key("S", at: 0)
        let second = key("T", at: 1)
        #expect(first != nil && second != nil && first?.answers == second?.answers && first != second)
        #expect(key("U", at: 0) == nil)
        for one in [first, second] { if let one { desks[0].end(one, .refused, granted: false, limits) } }
        let permission = desks[1].begin(.init(answers: ["a"], session: "U"), limits)
        if case .held(let refusals, let milliseconds) = permission {
            #expect(refusals == 2 && milliseconds > 0 && milliseconds <= 60_000)
        } else {
            Issue.record("the answers are given a third time: \(permission)")
        }
        #expect(key("S", "b", at: 1) != nil)
    }

    /// Each way in which a login ends for whoever waits on another loop.
    @Test(arguments: ["end", "grant", "clear", "leave"])
    func aLoopHearsOfWhatEndsOnAnother(_ how: String) throws {
        let limits = Lockout.Limits(refusals: 3, hold: 60_000)
        let table = LoginTable(LoginLedger())
        let login = Login(answers: ["a"], session: "S")
        let loops = try (0..<2).map { _ in try Loop() }
        defer { withExtendedLifetime(loops) {} }
        let near = Desk(table, try WaitingExchanges(loop: loops[0]))
        let far = Desk(table, try WaitingExchanges(loop: loops[1]))
        func begin() throws -> Lockout.Key {
            guard case .go(let key) = near.begin(login, limits) else { throw SystemError("it does not begin") }
            return key
        }
        // two refusals leave room for one at a time
        for _ in 0..<2 { near.end(try begin(), .refused, granted: false, limits) }
        let key = try begin()
        var ahead: WaitingTicket?
        if how == "leave", case .wait(let ticket) = near.begin(login, limits) { ahead = ticket }

        guard case .wait(let ticket) = far.begin(login, limits) else {
            Issue.record("it does not wait")
            return
        }
        let ear = try Ear(far.port)
        switch how {
        case "grant": near.grant(key, limits)
        case "clear": #expect(table.clear(nil) == 2)
        case "leave":
            near.end(key, .unjudged, granted: false, limits)
            if let ahead { near.leave(ahead) }
        default: near.end(key, .unjudged, granted: false, limits)
        }
        #expect(ear.heard() == [ticket] && far.look(ticket) == .go(key))
    }

    @Test(arguments: ["end", "leave"])
    func aLoopHearsOfWhatIsWonOnAnother(_ how: String) throws {
        let table = CredentialTable<CookieJar>(SharedCredentials(.cookie))
        let key = CookieLoginKey(
            CookieLogin(interceptor: "couch", .form([]), place: "/", cookie: "a"), origin: "http://shop.test")
        let far = try Mailbox<WaitingTicket>()
        let near = try Mailbox<WaitingTicket>()
        let now = LoginTime(milliseconds: 0, seconds: 0)
        guard case .fetch(let fetch) = table.tell({ $0.change { $0.ask(key, after: nil, waited: nil, now) } }) else {
            Issue.record("nobody logs in")
            return
        }
        let ahead = how == "leave" ? table.change { $0.line.enter(.room("couch"), near) } : nil
        let ticket = table.change { $0.line.enter(how == "leave" ? .room("couch") : .fetch(key), far) }
        let ear = try Ear(far)
        table.tell { $0.change { $0.abandoned(key, fetch: fetch) } }
        if let ahead { table.tell { $0.line.leave(ahead) } }
        #expect(ear.heard() == [ticket])
    }

    @Test(arguments: ["end", "leave"])
    func aLoopHearsWhenItMayAsk(_ how: String) throws {
        let table = DecisionTable(DecisionLedger())
        let far = try Mailbox<WaitingTicket>()
        let near = try Mailbox<WaitingTicket>()
        #expect(table.change { $0.line.begin(1, most: 1) })
        let ahead = how == "leave" ? table.change { $0.line.enter(1, most: 1, near) } : nil
        let ticket = table.change { $0.line.enter(2, most: 1, far) }
        let ear = try Ear(far)
        table.tell { $0.line.finish(1) }
        if let ahead { table.tell { $0.line.leave(ahead) } }
        #expect(ear.heard() == [ticket])
    }

    /// Another loop, which is told once.
    private final class Ear {
        private let told: Locked<[WaitingTicket]>
        private let thread: SystemThread

        init(_ mailbox: Mailbox<WaitingTicket>) throws {
            let told = Locked<[WaitingTicket]>([])
            self.told = told
            let listens = Gate()
            thread = try SystemThread(name: "far") {
                guard let loop = try? Loop() else { return }
                let port = try? MailboxPort(loop: loop, mailbox) { ticket in
                    told.withLock { $0.append(ticket) }
                    loop.stop()
                }
                listens.open()
                loop.run()
                withExtendedLifetime(port) {}
            }
            listens.wait()
        }

        func heard() -> [WaitingTicket] {
            thread.join()
            return told.withLock { $0 }
        }
    }
}
