import Formats
import Testing

@testable import Sandbox

@Suite struct TransactionTests {
    @Test func theWholeDance() throws {
        var world = World()
        let token = try world.signIn()
        let refused = try world.access(session: token)
        let id = try world.transaction(refused)
        #expect(refused.body.content.isEmpty)
        let done = try world.approve(id, session: token)
        #expect(done.status == 200)
        #expect(try world.json(done)["tokenId"]?.text == token)
        let granted = try world.access(session: token, id: id)
        #expect(granted.status == 200)
        let echo = try world.json(granted)
        #expect(echo["user"]?.text == "demo")
        #expect(echo["access"] == .integer(1))
        #expect(echo["transactionUses"] == .integer(1))
        #expect(echo["url"]?.text == "http://ig.localhost:8080/shop/pay?amount=40")
    }

    @Test func anIdGrantsOnce() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access(session: token))
        _ = try world.approve(id, session: token)
        #expect(try world.access(session: token, id: id).status == 200)
        let again = try world.transaction(try world.access(session: token, id: id))
        #expect(again != id)
        #expect(try world.errorCode(try world.approveStart(id, token)) == "128")
    }

    @Test func anIdIsStartedOnce() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access(session: token))
        #expect(try world.approveStart(id, token).status == 200)
        let second = try world.approveStart(id, token)
        #expect(second.status == 401)
        #expect(try world.errorCode(second) == "128")
    }

    @Test func unknownIdsCannotBeStarted() throws {
        var world = World()
        let token = try world.signIn()
        let answer = try world.approveStart("5d0c7e2a-91b4-4f6e-8a33-c2f19b7e6d05", token)
        #expect(answer.status == 401)
        #expect(try world.errorCode(answer) == "128")
        let plain = try world.start("authIndexType=transaction&authIndexValue=x", session: token)
        #expect(try world.errorCode(plain) == "128")
    }

    @Test func anUnfinishedIdGrantsNothing() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access(session: token))
        #expect(try world.access(session: token, id: id).status == 401)
        _ = try world.approveStart(id, token)
        #expect(try world.access(session: token, id: id).status == 401)
    }

    @Test func twoSessionsOfOneUserCannotShareAnId() throws {
        var world = World()
        let first = try world.signIn()
        let second = try world.signIn()
        let id = try world.transaction(try world.access(session: first))
        #expect(try world.errorCode(try world.approveStart(id, second)) == "128")
        #expect(try world.errorCode(try world.approveStart(id, nil)) == "128")
        let step = try world.approveStart(id, first)
        #expect(try world.errorCode(try world.answer(step, session: second)) == "128")
    }

    @Test func aGrantIsOfItsOwnSessionMethodAndResource() throws {
        var world = World()
        let token = try world.signIn()
        let other = try world.signIn("user1")
        let id = try world.transaction(try world.access(session: token))
        _ = try world.approve(id, session: token)
        #expect(try world.access(session: other, id: id).status == 401)
        #expect(try world.access("/shop/pay?amount=41", session: token, id: id).status == 401)
        #expect(try world.access("/shop/pay", session: token, id: id).status == 401)
        #expect(try world.access(session: token, id: id, method: "POST").status == 401)
        // the id is still good for what it was made for
        #expect(try world.access(session: token, id: id).status == 200)
    }

    @Test func manyAtOnceKeepApart() throws {
        var world = World()
        var open: [(user: String, token: String, id: String)] = []
        for user in ["demo"] + (1...9).map({ "user\($0)" }) {
            let token = try world.signIn(user)
            open.append((user, token, try world.transaction(try world.access(session: token))))
        }
        #expect(Set(open.map(\.id)).count == 10)
        for entry in open.reversed() { _ = try world.approve(entry.id, session: entry.token, name: entry.user) }
        for (entry, neighbour) in zip(open, open.dropFirst()) {
            #expect(try world.access(session: entry.token, id: neighbour.id).status == 401)
        }
        for entry in open {
            let granted = try world.access(session: entry.token, id: entry.id)
            #expect(granted.status == 200)
            #expect(try world.json(granted)["user"]?.text == entry.user)
        }
    }

    @Test func wrongAnswersAskOnceMoreThenLookLikeSuccess() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access(session: token))
        let again = try world.answer(try world.approveStart(id, token), password: "wrong", session: token)
        #expect(try world.json(again)["callbacks"]?.items?.count == 2)
        let failed = try world.answer(again, name: "user1", session: token)
        #expect(failed.status == 200)
        #expect(try world.json(failed)["tokenId"]?.text == token)
        #expect(try world.transaction(try world.access(session: token, id: id)) != id)
    }

    @Test func theSecondAnswerMayBeRight() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access(session: token))
        let again = try world.answer(try world.approveStart(id, token), password: "wrong", session: token)
        _ = try world.answer(again, session: token)
        #expect(try world.access(session: token, id: id).status == 200)
    }

    @Test func aChoiceApprovesOrRefuses() throws {
        var options = SandboxOptions()
        options.strategy = .choice
        var world = World(options)
        let token = try world.signIn()
        let first = try world.transaction(try world.access(session: token))
        let refused = try world.answer(try world.approveStart(first, token), choice: 1, session: token)
        #expect(try world.json(refused)["tokenId"]?.text == token)
        let second = try world.transaction(try world.access(session: token, id: first))
        _ = try world.answer(try world.approveStart(second, token), choice: 0, session: token)
        #expect(try world.access(session: token, id: second).status == 200)
    }

    @Test func aTransactionEnds() throws {
        var world = World()
        let token = try world.signIn()
        let late = try world.transaction(try world.access(session: token))
        let step = try world.approveStart(late, token)
        world.now += 181
        #expect(try world.errorCode(try world.answer(step, session: token)) == "128")
        let unused = try world.transaction(try world.access(session: token))
        _ = try world.approve(unused, session: token)
        world.now += 181
        #expect(try world.access(session: token, id: unused).status == 401)
    }

    @Test func logoutEndsWhatBelongsToTheSession() throws {
        var world = World()
        let token = try world.signIn()
        let id = try world.transaction(try world.access(session: token))
        _ = try world.approve(id, session: token)
        _ = try world.send("POST", "/am/json/sessions/?_action=logout", session: token, fields: World.version)
        #expect(try world.access(session: token, id: id).status == 302)
    }
}

extension World {
    fileprivate mutating func approveStart(_ id: String, _ session: String?) throws -> SandboxResponse {
        try begin(CompositeAdvice(CompositeAdvice.transaction, id), session: session)
    }

    fileprivate mutating func access(session: String, id: String, method: String) throws -> SandboxResponse {
        try access("/shop/pay?amount=40", method, session: session, id: id)
    }
}
