import Addresses
import Authorization
import ProxyCore
import Testing

/// What counts against the answers where a person gives some of them.
@Suite("Logins with a person's answers")
struct PersonLoginTests {
    typealias Up = SteppingUp

    private let store = WaitingPeople()
    private let logins = LoginBook()

    private func settings(
        refusals: Int = 2, _ change: (inout AuthorizationPolicy) -> Void = { _ in }
    ) -> Settings {
        stepUpSettings { policy in
            policy.answers = [.init(callback: "NameCallback", response: .value("robot"))]
            policy.person.isAsked = true
            policy.hold = 5_000
            policy.lockout = .init(refusals: refusals, hold: 60_000)
            change(&policy)
        }
    }

    private static func callback(_ type: String, _ prompt: String) -> String {
        "{\"type\":\"\(type)\",\"output\":[{\"name\":\"prompt\",\"value\":\"\(prompt)\"}],"
            + "\"input\":[{\"name\":\"IDToken1\",\"value\":\"\"}]}"
    }

    private static func page(_ callbacks: String...) -> String {
        Up.json("{\"authId\":\"a1\",\"callbacks\":[\(callbacks.joined(separator: ","))]}")
    }

    private static let name = page(callback("NameCallback", "User"))
    private static let both = page(callback("NameCallback", "User"), callback("PasswordCallback", "Code"))
    private static let code = page(callback("PasswordCallback", "Code"))
    private static let approval = Up.json(
        "{\"authId\":\"a2\",\"callbacks\":[{\"type\":\"ConfirmationCallback\",\"output\":[{\"name\":\"optionType\",\"value\":0}],"
            + "\"input\":[{\"name\":\"IDToken1\",\"value\":0}]}]}")

    /// As far as AM's first page.
    private func begins(_ settings: Settings, _ page: String) -> Conversation {
        let talk = Conversation(
            settings, logins: logins, transactions: store, source: ClientSource(address: IPAddress("192.0.2.1")))
        talk.client(Up.get)
        talk.connects()
        talk.origin(Up.refused())
        guard talk.driver.dialing != nil else { return talk }
        talk.connects()
        talk.origin(page)
        return talk
    }

    /// As far as the page that AM shows when it was told the configuration's answer.
    private func told(_ settings: Settings, then next: String) -> Conversation {
        let talk = begins(settings, Self.name)
        talk.connects()
        #expect(talk.originGot().contains("robot"), "\(talk.notes)")
        talk.origin(next)
        return talk
    }

    private func says(_ answers: PersonAnswers, _ talk: Conversation) throws {
        let waiting = try #require(store.ledger.list(now: 0).first, "\(talk.notes)")
        #expect(try store.ledger.answer(waiting.id, answers, now: 1).missing.isEmpty)
        talk.driver.personSpoke()
    }

    // MARK: answers of the configuration

    /// AM may have refused it by showing that page.
    @Test func whatNobodySaysMoreToCounts() {
        for _ in 0..<2 {
            let talk = told(settings(), then: Self.approval)
            #expect(store.ledger.count == 1)
            talk.driver.waits(5_000)
            #expect(talk.clientGot() == Up.original())
        }
        #expect(logins.ended == [.refused, .refused])
        let held = begins(settings(), Self.name)
        #expect(held.clientGot() == Up.original() && held.noted("AM refused these answers 2 times in a row"))
    }

    @Test func aClientThatLeavesCounts() {
        told(settings(), then: Self.approval).driver.clientEnds()
        #expect(logins.ended == [.refused])
    }

    @Test func aPageThatAPersonDeniesTellsNothing() throws {
        let talk = told(settings(), then: Self.approval)
        _ = try store.ledger.deny(try #require(store.ledger.list(now: 0).first).id, now: 1)
        talk.driver.personSpoke()
        #expect(talk.clientGot() == Up.original() && logins.ended == [.unjudged])
    }

    @Test func whatAPersonAnswersIsJudgedByAM() throws {
        let good = told(settings(), then: Self.code)
        try says(PersonAnswers([0: ["123456"]]), good)
        good.connects()
        good.origin(Up.success)
        good.connects()
        good.origin(ok)
        #expect(good.clientGot().contains("200 OK") && logins.ended == [.taken])

        let bad = told(settings(), then: Self.code)
        try says(PersonAnswers([0: ["123456"]]), bad)
        bad.connects()
        bad.origin(Up.json("{\"code\":401}", status: "401 Unauthorized"))
        #expect(logins.ended == [.taken, .refused])
    }

    /// Each telling brings the account nearer to its lock.
    @Test func aPageThatComesAgainCountsEachTime() throws {
        let talk = begins(settings(refusals: 3), Self.both)
        for (turn, code) in ["1", "2"].enumerated() {
            try says(PersonAnswers([1: [code]]), talk)
            talk.connects()
            talk.origin(Self.both)
            #expect(logins.ended.count == turn + 1 && logins.ended.allSatisfy { $0 == .refused })
        }
        #expect(store.ledger.count == 1)
    }

    @Test func aPasswordOfTheConfigurationGoesOutTwiceAndNobodyIsAskedForMore() throws {
        let settings = settings(refusals: 9) {
            $0.answers = [.init(callback: "PasswordCallback", prompt: "Password", response: .value("wrong"))]
        }
        let page = Self.page(Self.callback("PasswordCallback", "Password"), Self.callback("NameCallback", "Code"))
        let talk = begins(settings, page)
        for code in ["1", "2"] {
            try says(PersonAnswers([1: [code]]), talk)
            talk.connects()
            talk.origin(page)
        }
        #expect(store.ledger.count == 0, "nobody is asked for what would not go out")
        #expect(talk.clientGot() == Up.original() && talk.noted("AM asks again for PasswordCallback"))
        #expect(logins.ended == [.refused, .refused])
    }

    /// They wait for a person, and so hold nobody up, but there are no more of them than may fail unseen.
    @Test func manyAtOnceAreNoWayRound() {
        var talks: [Conversation] = []
        for _ in 0..<20 {
            let talk = begins(settings(), Self.name)
            guard talk.driver.dialing != nil else {
                talks.append(talk)
                continue
            }
            talk.connects()
            talk.origin(Self.approval)
            talks.append(talk)
        }
        #expect(store.ledger.count == 16)
        for talk in talks { talk.driver.clientEnds() }
        #expect(logins.ended == Array(repeating: .refused, count: 16))
    }

    /// What a person has said waits until others with the same answers are judged.
    @Test(arguments: [false, true])
    func whatAPersonSaidWaitsForItsTurn(leaves: Bool) throws {
        let more = Self.page(Self.callback("NameCallback", "Other"), Self.callback("PasswordCallback", "Code"))
        let first = told(settings(refusals: 1), then: more)
        let second = begins(settings(refusals: 1), Self.name)
        second.connects()
        #expect(second.originGot().contains("robot"))
        try says(PersonAnswers([1: ["123456"]]), first)
        #expect(first.driver.dialing == nil && logins.ledger.waiting == 1)
        second.origin(Up.success)
        if leaves {
            first.driver.clientIsLost()
        } else {
            logins.ring(first)
            first.connects()
            #expect(first.originGot().contains("123456"))
            first.origin(Up.success)
            first.connects()
            first.origin(ok)
        }
        second.connects()
        second.origin(ok)
        #expect(logins.ended == [leaves ? .refused : .taken, .taken] && logins.ledger.waiting == 0)
        #expect(logins.ledger.entries(now: 0).allSatisfy { $0.underWay == 0 })
    }

    // MARK: a pause

    /// Nobody types what is thrown away.
    @Test func nobodyIsAskedDuringAPause() {
        logins.isHeld = true
        let first = begins(settings(), Self.both)
        #expect(store.ledger.count == 0 && first.noted("AM refused these answers 3 times in a row"))
        #expect(first.clientGot() == Up.original())
        logins.isHeld = false
        let second = Conversation(settings(), logins: logins, transactions: store)
        second.client(Up.get)
        second.connects()
        second.origin(Up.refused())
        second.connects()
        logins.isHeld = true
        second.origin(Self.both)
        #expect(store.ledger.count == 0 && second.clientGot() == Up.original())
    }

    // MARK: one-time passwords

    private var oneTime: Settings {
        settings(refusals: 1) {
            $0.answers = [
                .init(
                    callback: "NameCallback",
                    response: .oneTime(.init(key: Array("12345678901234567890".utf8), kind: .time(period: 30))))
            ]
        }
    }

    /// RFC 6238: 287082 at 59, 359152 from 60 on.
    @Test func aCodeIsMadeWhenItsTurnHasCome() {
        let first = begins(oneTime, Self.name)
        first.connects()
        #expect(logins.begun == 1)
        let second = Conversation(oneTime, logins: logins, transactions: store)
        second.driver.tell(time: 59)
        second.client(Up.get)
        second.connects()
        second.origin(Up.refused())
        second.connects()
        second.origin(Self.name)
        #expect(second.driver.dialing == nil, "another one is under way")
        second.driver.tell(time: 60)
        first.origin(Up.success)
        logins.ring(second)
        second.connects()
        let got = second.originGot()
        #expect(got.contains("359152") && !got.contains("287082"))
    }

    // MARK: the last moment

    @Test func whatWasSaidInTimeIsHeard() throws {
        let talk = told(settings(), then: Self.code)
        let waiting = try #require(store.ledger.list(now: 0).first)
        #expect(try store.ledger.answer(waiting.id, PersonAnswers([0: ["123456"]]), now: 4_499).missing.isEmpty)
        // the loop comes to it when the time is over
        talk.driver.waits(5_000)
        talk.connects()
        #expect(talk.originGot().contains("123456"))
        talk.origin(Up.success)
        talk.connects()
        talk.origin(ok)
        #expect(talk.clientGot().contains("200 OK") && talk.noted("\(waiting.id) was answered"))
        #expect(!talk.noted("nobody answered"))
    }
}
