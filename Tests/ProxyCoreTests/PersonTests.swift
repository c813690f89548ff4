import Addresses
import Authorization
import ProxyCore
import Testing

@Suite("A person answers")
struct PersonTests {
    private func settings(_ change: (inout AuthorizationPolicy) -> Void = { _ in }) -> Settings {
        stepUpSettings { policy in
            policy.answers = []
            policy.person.isAsked = true
            policy.hold = 5_000
            change(&policy)
        }
    }

    /// As far as the question.
    private func waits(
        _ store: WaitingPeople, _ settings: Settings, _ logins: LoginBook? = nil
    ) throws -> (Conversation, TransactionID) {
        let talk = Conversation(
            settings, logins: logins, transactions: store, source: ClientSource(address: IPAddress("192.0.2.1")))
        talk.client(SteppingUp.get.replacing("/api/cart", with: "/api/cart?token=secret"))
        talk.connects()
        talk.origin(SteppingUp.refused())
        talk.connects()
        talk.origin(SteppingUp.step)
        return (talk, try #require(store.ledger.list(now: 0).last?.id, "\(talk.notes)"))
    }

    @Test func anAnswerGoesOutAndTheRequestIsReplayed() throws {
        let store = WaitingPeople()
        let (talk, id) = try waits(store, settings { $0.person.notify = ["tell"] })
        let waiting = try #require(store.ledger.list(now: 0).first)
        #expect(waiting.transaction.client.address == "192.0.2.1")
        #expect(waiting.transaction.resource == "http://shop.test/api/cart?token=REDACTED")
        #expect(waiting.transaction.until == 4_500, "a tenth is left for AM")
        #expect(waiting.missing.map(\.type) == ["NameCallback"])
        #expect(store.notified == [["tell"]])
        #expect(try store.ledger.answer(id, PersonAnswers([0: ["jane"]]), now: 1).missing.isEmpty)
        talk.driver.personSpoke()
        talk.connects()
        #expect(talk.originGot().contains("jane"))
        talk.origin(SteppingUp.success)
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot().contains("200 OK"))
        #expect(talk.noted("waits for a person as \(id)"))
        #expect(talk.noted("\(id) was answered after 0 ms"))
        #expect(!talk.notes.joined().contains("jane") && store.ledger.count == 0)
        #expect(throws: TransactionRefusal.over(.answered)) {
            try store.ledger.answer(id, PersonAnswers([0: ["jane"]]), now: 2)
        }
    }

    @Test func whoDeniesGivesTheOriginalAnswerBack() throws {
        let store = WaitingPeople()
        let (talk, id) = try waits(store, settings())
        _ = try store.ledger.deny(id, now: 1)
        talk.driver.personSpoke()
        #expect(talk.clientGot() == SteppingUp.original())
        #expect(talk.noted("a person denied it"))
    }

    @Test func nobodyAnswers() throws {
        let store = WaitingPeople()
        let (talk, id) = try waits(store, settings())
        talk.driver.waits(4_999)
        #expect(talk.clientGot() == "")
        store.now = 5_000
        talk.driver.waits(1)
        #expect(talk.clientGot() == SteppingUp.original())
        #expect(talk.noted("nobody answered within authorization.hold"))
        #expect(throws: TransactionRefusal.over(.late)) { try store.ledger.deny(id, now: 5_001) }
    }

    @Test func aClientThatLeavesFreesItsPlace() throws {
        let store = WaitingPeople()
        let (talk, id) = try waits(store, settings())
        talk.driver.clientEnds()
        #expect(store.ledger.count == 0)
        #expect(throws: TransactionRefusal.over(.left)) { try store.ledger.deny(id, now: 1) }
    }

    @Test func aReloadKeepsIt() throws {
        let store = WaitingPeople()
        let (talk, id) = try waits(store, settings())
        talk.driver.adopt(Settings())
        _ = try store.ledger.answer(id, PersonAnswers([0: ["jane"]]), now: 1)
        talk.driver.personSpoke()
        talk.connects()
        #expect(talk.originGot().contains("jane"))
    }

    @Test func fullIsSaidInWords() throws {
        let store = WaitingPeople(capacity: 1)
        _ = try waits(store, settings())
        let talk = Conversation(settings(), transactions: store, source: ClientSource(address: IPAddress("192.0.2.1")))
        talk.client(SteppingUp.get)
        talk.connects()
        talk.origin(SteppingUp.refused())
        talk.connects()
        // the first has gone with its conversation; one that stays takes the only place
        let (other, _) = try waits(store, settings())
        talk.origin(SteppingUp.step)
        #expect(talk.noted("1 step-ups wait for a person already"))
        #expect(talk.clientGot() == SteppingUp.original())
        other.driver.clientEnds()
    }

    @Test func whoWaitsForAPersonHoldsNoLoginUp() throws {
        let store = WaitingPeople()
        let logins = LoginBook()
        let (talk, id) = try waits(store, settings(), logins)
        #expect(logins.begun == 0, "AM was told nothing")
        _ = try store.ledger.answer(id, PersonAnswers([0: ["jane"]]), now: 1)
        talk.driver.personSpoke()
        #expect(logins.begun == 1)
        talk.connects()
        talk.origin(SteppingUp.step.replacing("a1", with: "a2").replacing("User", with: "Code"))
        #expect(logins.ended.isEmpty && store.ledger.count == 1, "the next page waits for a person")
        logins.isHeld = true
        let next = try #require(store.ledger.list(now: 1).first)
        _ = try store.ledger.answer(next.id, PersonAnswers([0: ["1"]]), now: 1)
        talk.driver.personSpoke()
        #expect(talk.clientGot() == SteppingUp.original())
        #expect(talk.noted("AM refused these answers 3 times in a row"))
        #expect(logins.ended == [.unjudged], "AM went on, and a person answered")
    }

    @Test func withoutAnybodyToAskItIsSaid() {
        let talk = asked(settings())
        talk.origin(SteppingUp.step)
        #expect(talk.noted("a person would be asked for NameCallback"))
        #expect(talk.clientGot() == SteppingUp.original())
    }
}
