import Authorization
import Interception
import Testing

@Suite("Lockout")
struct LockoutTests {
    private let limits = Lockout.Limits(refusals: 3, hold: 1_000)
    private let key = Lockout.Key(answers: 1, session: 10)
    /// The same answers in another session.
    private let foreign = Lockout.Key(answers: 1, session: 20)

    private func refuse(_ book: inout Lockout, _ key: Lockout.Key, _ count: Int = 1, now: Int = 0) {
        for _ in 0..<count {
            #expect(book.begin(key, limits, now: now) == .go)
            book.end(key, .refused, limits, now: now)
        }
    }

    private func succeed(_ book: inout Lockout, _ key: Lockout.Key, _ count: Int = 1, now: Int = 0) {
        for _ in 0..<count {
            #expect(book.begin(key, limits, now: now) == .go)
            book.end(key, .taken, limits, now: now)
        }
    }

    @Test func refusalsInARowHoldOff() {
        var book = Lockout()
        refuse(&book, key, 3, now: 5)
        #expect(book.begin(key, limits, now: 5) == .held(refusals: 3, milliseconds: 1_000))
        #expect(book.begin(key, limits, now: 1_004) == .held(refusals: 3, milliseconds: 1))
        #expect(book.begin(key, limits, now: 1_005) == .go)
    }

    @Test func everyPauseIsTwiceAsLongUpToAnHour() {
        var book = Lockout()
        refuse(&book, key, 2)
        var now = 0
        var pauses: [Int] = []
        for _ in 0..<15 {
            refuse(&book, key, now: now)
            guard case .held(_, let milliseconds) = book.begin(key, limits, now: now) else { break }
            pauses.append(milliseconds)
            now += milliseconds
        }
        #expect(pauses.count == 15 && pauses.prefix(4) == [1_000, 2_000, 4_000, 8_000])
        #expect(pauses.last == Lockout.Limits.longestPause)
        // a configured pause may be longer than that
        let long = Lockout.Limits(refusals: 1, hold: 86_400_000)
        var other = Lockout()
        #expect(other.begin(key, long, now: 0) == .go)
        other.end(key, .refused, long, now: 0)
        #expect(other.begin(key, long, now: 0) == .held(refusals: 1, milliseconds: 86_400_000))
    }

    @Test func aSuccessResets() {
        var book = Lockout()
        refuse(&book, key, 2)
        succeed(&book, key)
        refuse(&book, key, 2)
        #expect(book.begin(key, limits, now: 0) == .go)
        // what was under way when a pause began may end it
        var late = Lockout()
        #expect(late.begin(key, limits, now: 0) == .go)
        refuse(&late, key, 2)
        late.end(key, .taken, limits, now: 0)
        refuse(&late, key, 2)
        #expect(late.begin(key, limits, now: 0) == .go)
    }

    @Test func noMoreAreUnderWayThanMayFail() {
        var book = Lockout()
        for _ in 0..<3 { #expect(book.begin(key, limits, now: 0) == .go) }
        #expect(book.begin(key, limits, now: 0) == .later)
        book.end(key, .refused, limits, now: 0)
        #expect(book.begin(key, limits, now: 0) == .later)
        book.end(key, .refused, limits, now: 0)
        #expect(book.begin(key, limits, now: 0) == .later)
        book.end(key, .refused, limits, now: 0)
        #expect(book.begin(key, limits, now: 0) == .held(refusals: 3, milliseconds: 1_000))
        // behind the pause one tries, and the others wait for it
        #expect(book.begin(key, limits, now: 1_000) == .go)
        #expect(book.begin(key, limits, now: 1_000) == .later)
        book.end(key, .taken, limits, now: 1_000)
        for _ in 0..<3 { #expect(book.begin(key, limits, now: 1_000) == .go) }
        #expect(book.begin(key, limits, now: 1_000) == .later)
    }

    @Test func whatEndsUnjudgedOnlyMakesRoom() {
        var book = Lockout()
        for _ in 0..<10 {
            #expect(book.begin(key, limits, now: 0) == .go)
            book.end(key, .unjudged, limits, now: 0)
        }
        refuse(&book, key, 2)
        #expect(book.begin(key, limits, now: 0) == .go)
    }

    @Test func successesMakeRoomForMore() {
        var book = Lockout()
        succeed(&book, key, 10)
        for _ in 0..<10 { #expect(book.begin(key, limits, now: 0) == .go) }
        #expect(book.begin(key, limits, now: 0) == .later)
        // those that fail after all hold off all others at once, and make one pause together
        for _ in 0..<10 { book.end(key, .refused, limits, now: 0) }
        #expect(book.begin(key, limits, now: 0) == .held(refusals: 10, milliseconds: 1_000))
        var endless = Lockout()
        succeed(&endless, key, 1_000)
        var permitted = 0
        while permitted < 2_000, endless.begin(key, limits, now: 0) == .go { permitted += 1 }
        #expect(permitted == 256)
    }

    @Test func sessionsShareTheirAnswers() {
        var book = Lockout()
        refuse(&book, key, 2)
        refuse(&book, foreign)
        for one in [key, foreign, .init(answers: 1, session: 30)] {
            #expect(book.begin(one, limits, now: 0) == .held(refusals: 3, milliseconds: 1_000))
        }
        #expect(book.begin(.init(answers: 2, session: 40), limits, now: 0) == .go)
    }

    @Test func aForeignSessionHoldsOffItselfAlone() {
        var book = Lockout()
        succeed(&book, key)
        refuse(&book, foreign, 3)
        #expect(book.begin(foreign, limits, now: 0) == .held(refusals: 3, milliseconds: 1_000))
        succeed(&book, key)
        // nor does the others' success free it
        #expect(book.begin(foreign, limits, now: 999) == .held(refusals: 3, milliseconds: 1))
    }

    @Test func manyForeignSessionsMakeTheAnswersDoubtful() {
        var book = Lockout()
        succeed(&book, key)
        for session in 0..<3 { refuse(&book, .init(answers: 1, session: 100 + UInt128(session))) }
        #expect(book.begin(foreign, limits, now: 0) == .held(refusals: 3, milliseconds: 1_000))
        // one after the other, those who were served may try
        #expect(book.begin(key, limits, now: 0) == .go)
        #expect(book.begin(key, limits, now: 0) == .later)
        book.end(key, .taken, limits, now: 0)
        #expect(book.begin(foreign, limits, now: 0) == .go)
        book.end(foreign, .unjudged, limits, now: 0)
    }

    @Test func aPauseForDoubtsGrowsAndStillLetsTheServedTry() {
        var book = Lockout()
        succeed(&book, key)
        for session in 0..<3 { refuse(&book, .init(answers: 1, session: 100 + UInt128(session))) }
        refuse(&book, .init(answers: 1, session: 200), now: 1_000)
        #expect(book.begin(foreign, limits, now: 1_000) == .held(refusals: 4, milliseconds: 2_000))
        succeed(&book, key, now: 1_000)
    }

    @Test func whoWasServedAndIsRefusedEndsTheDoubt() {
        var book = Lockout()
        let other = Lockout.Key(answers: 1, session: 30)
        succeed(&book, key)
        succeed(&book, other)
        for session in 0..<3 { refuse(&book, .init(answers: 1, session: 100 + UInt128(session))) }
        refuse(&book, key)
        for one in [key, other, foreign] {
            #expect(book.begin(one, limits, now: 0) == .held(refusals: 4, milliseconds: 1_000))
        }
    }

    /// The password was changed at AM.
    @Test func aSessionThatWasServedTellsOfTheAnswers() {
        var book = Lockout()
        succeed(&book, key, 5)
        refuse(&book, key, 3)
        #expect(book.begin(foreign, limits, now: 0) == .held(refusals: 3, milliseconds: 1_000))
    }

    @Test func whatLiesAnHourBackIsForgotten() {
        var book = Lockout()
        refuse(&book, key, 2)
        refuse(&book, key, 2, now: Lockout.Limits.longestPause)
        #expect(book.begin(key, limits, now: Lockout.Limits.longestPause) == .go)
    }

    @Test func noneIsNever() {
        var book = Lockout()
        let never = Lockout.Limits(refusals: 0, hold: 1_000)
        for _ in 0..<100 { #expect(book.begin(key, never, now: 0) == .go) }
        for _ in 0..<100 { book.end(key, .refused, never, now: 0) }
        #expect(book.begin(key, never, now: 0) == .go && book.count == 0)
    }

    @Test func theTableIsBounded() {
        var book = Lockout(capacity: 8)
        for number in 0..<100 {
            let one = Lockout.Key(answers: UInt128(number), session: UInt128(number))
            refuse(&book, one, number % 4)
            #expect(book.count <= 16)
        }
        // what is held off is forgotten last, what is under way never
        var full = Lockout(capacity: 2)
        refuse(&full, key, 3)
        succeed(&full, .init(answers: 2, session: 2))
        succeed(&full, .init(answers: 3, session: 3))
        #expect(full.begin(key, limits, now: 0) == .held(refusals: 3, milliseconds: 1_000))
        var busy = Lockout(capacity: 1)
        #expect(busy.begin(key, limits, now: 0) == .go)
        #expect(busy.begin(.init(answers: 2, session: 2), limits, now: 0) == .full)
        busy.end(key, .unjudged, limits, now: 0)
        #expect(busy.begin(.init(answers: 2, session: 2), limits, now: 0) == .go)
        // an end that nobody began changes nothing
        busy.end(.init(answers: 9, session: 9), .refused, limits, now: 0)
        #expect(busy.count == 2)
    }

    /// What AM has answered is under way no more, but not forgotten either.
    @Test func whatIsGrantedHoldsNobodyUp() {
        var book = Lockout()
        for _ in 0..<16 {
            #expect(book.begin(key, limits, now: 0) == .go)
            book.grant(key, limits, now: 0)
        }
        // so many unproven ones could all be refused
        #expect(book.begin(key, limits, now: 0) == .later)
        book.end(key, .taken, granted: true, limits, now: 0)
        for _ in 0..<3 { #expect(book.begin(key, limits, now: 0) == .go) }
        #expect(book.begin(key, limits, now: 0) == .later)
        for _ in 0..<3 { book.end(key, .refused, granted: true, limits, now: 0) }
        #expect(book.begin(key, limits, now: 0) == .held(refusals: 3, milliseconds: 1_000))
        // they are waited for as long as it takes, also where the table is full
        var full = Lockout(capacity: 1)
        #expect(full.begin(key, limits, now: 0) == .go)
        full.grant(key, limits, now: 0)
        let later = 2 * Lockout.Limits.longestPause
        #expect(full.begin(.init(answers: 2, session: 2), limits, now: later) == .full)
        full.end(key, .refused, granted: true, limits, now: later)
        #expect(full.begin(.init(answers: 2, session: 2), limits, now: later) == .go)
        // nobody counts where nothing is held off
        var never = Lockout()
        never.grant(key, Lockout.Limits(refusals: 0, hold: 1_000), now: 0)
        #expect(never.count == 0)
    }
}

@Suite("What a login is counted by")
struct LoginTests {
    private func login(
        _ change: (inout AuthorizationPolicy) -> Void = { _ in }, session: String = "S", realm: String = "/alpha"
    ) -> Login {
        var policy = policy()
        policy.answers = [
            .init(callback: "NameCallback", response: .value("demo")),
            .init(callback: "PasswordCallback", prompt: "P*", response: .value("secret")),
        ]
        change(&policy)
        let advice = Advice(source: .header, realm: "/alpha", conditions: [.init("AuthLevelConditionAdvice", ["1"])])
        return StepUp(policy: policy, advice: advice, session: session, realm: realm).login
    }

    @Test func everyPartCounts() {
        let plain = login()
        #expect(plain.answers == login().answers && plain.inSession == login().inSession)
        #expect(login(session: "T").answers == plain.answers && login(session: "T").inSession != plain.inSession)
        let others = [
            login { $0.answers[0].response = .value("user2") }, login { $0.answers[1].response = .value("other") },
            login { $0.answers[1].response = .choose("secret") }, login { $0.answers[1].prompt = nil },
            login { $0.answers.removeLast() }, login { $0.server.url += "2" }, login(realm: "/"),
        ]
        for other in others { #expect(other.answers != plain.answers) }
        // what a person answers is the session's own
        let person: (inout AuthorizationPolicy) -> Void = { policy in
            policy.answers = [.init(callback: "PasswordCallback", response: .ask)]
        }
        #expect(login(person, session: "T").answers != login(person).answers)
        // no two rows of texts read alike
        #expect(Login(answers: ["a", "b"], session: "").answers != Login(answers: ["a1:b"], session: "").answers)
        #expect(Login(answers: ["ab", ""], session: "").answers != Login(answers: ["a", "b"], session: "").answers)
    }
}
