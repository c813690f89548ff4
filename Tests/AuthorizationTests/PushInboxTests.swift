import Testing

@testable import Authorization

@Suite("Pushes that wait for an answer")
struct PushInboxTests {
    private var inbox = PushInbox()
    private let device = DeviceMessageTests.kept().id

    private func push(_ number: Int) throws -> PushMessage {
        try DeviceMessageTests.delivered(DeviceMessageTests.token(number), id: "AUTHENTICATE:\(number)")
    }

    private static func page(_ since: Int = 0, _ began: Int? = nil) -> PushInbox.Page {
        PushInbox.Page(since: since, began: began ?? since)
    }

    private static let settling = PushInbox.settling

    private mutating func claim(
        _ page: PushInbox.Page = Self.page(), _ number: String? = nil, after delay: Int = 0, now: Int = Self.settling
    ) -> PushInbox.Claim {
        inbox.claim(device, for: page, number, after: delay, now: now)
    }

    @Test mutating func eachIsTakenAndAnsweredOnce() throws {
        let push = try push(1)
        let taken = [inbox.take(push, now: 0), inbox.take(push, now: 1)]
        #expect(taken == [.taken, .known])
        let another = inbox.claim("another", for: Self.page(), nil, after: 0, now: Self.settling)
        let claimed = [claim(Self.page(), "43"), claim(), claim(Self.page())]
        #expect(another == .none && claimed == [.none, .push(push), .none])
        let again = inbox.take(push, now: 3)
        #expect(again == .known)
    }

    // MARK: whose it is

    /// Somebody else's login caused it, before the conversation that waits had asked AM for anything.
    @Test mutating func onesThatCameBeforeAreAnothers() throws {
        let (old, own) = (try push(1), try push(2))
        _ = inbox.take(old, now: 99)
        let page = Self.page(100, 150)
        let before = claim(page, now: 1000)
        _ = inbox.take(own, now: 1000)
        let claimed = [claim(page, now: 1001), claim(Self.page(50), now: 1002)]
        #expect(before == .none && claimed == [.push(own), .push(old)])
    }

    /// The one that comes first may be another's, and the page's own be on its way.
    @Test mutating func aPageIsGivenTimeForItsOwn() throws {
        _ = inbox.take(try push(1), now: 10)
        let page = Self.page(0, 20)
        let early = claim(page, now: 20 + Self.settling - 1)
        #expect(early == .none)
        _ = inbox.take(try push(2), now: 100)
        let refused = [claim(page, now: 100 + Self.settling - 1), claim(page, now: 100 + Self.settling)]
        #expect(refused == [.none, .refused(2)])
        // nobody else has them either
        let later = [claim(page, now: 1000), claim(Self.page(), now: 1000)]
        #expect(later == [.refused(2), .none])
    }

    /// Two of Usher's own, and a push for each.
    @Test mutating func asManyAsThereArePagesAreTheirs() throws {
        let pushes = [try push(1), try push(2)]
        let pages = [Self.page(), Self.page()]
        for push in pushes { _ = inbox.take(push, now: 10) }
        let early = pages.indices.map { claim(pages[$0], now: 100) }
        let claimed = pages.indices.map { claim(pages[$0]) }
        #expect(early == [.none, .none] && claimed == pushes.map { .push($0) })
    }

    /// The second page was asked for later than the second push came.
    @Test mutating func aLaterPageHasNoPartInEarlierOnes() throws {
        for number in 1...2 { _ = inbox.take(try push(number), now: 10) }
        let (first, second) = (Self.page(), Self.page(600))
        let early = [claim(second, now: 700), claim(first, now: 700)]
        #expect(early == [.none, .refused(2)])
        let own = try push(3)
        _ = inbox.take(own, now: 800)
        // it was among those who asked when nothing could be told
        let refused = claim(second, now: 2000)
        #expect(refused == .refused(2))
        let claimed = claim(Self.page(750), now: 2000)
        #expect(claimed == .push(own))
    }

    @Test mutating func pagesThatWaitNoMoreHaveNone() throws {
        let gone = [Self.page(), Self.page()]
        for page in gone { _ = claim(page, now: 0) }
        inbox.withdraw(gone[0])
        for number in 1...2 { _ = inbox.take(try push(number), now: PushInbox.patience) }
        let claimed = claim(now: PushInbox.patience + Self.settling)
        #expect(claimed == .refused(2))
    }

    /// Each page takes those that offer its number, and none where two do.
    @Test mutating func aNumberTellsThemApart() throws {
        let numbered = try DeviceMessageTests.delivered()
        let plain = try push(1)
        for push in [plain, numbered] { _ = inbox.take(push, now: 0) }
        let claimed = [
            claim(Self.page(), "99", now: 0), claim(Self.page(), "43", now: 0), claim(Self.page()),
        ]
        #expect(claimed == [.none, .push(numbered), .push(plain)])
        let more = try [1, 2].map {
            try DeviceMessageTests.delivered(DeviceMessageTests.token($0, numbers: "34,43,5\($0)"))
        }
        for push in more { _ = inbox.take(push, now: 0) }
        let both = Self.page()
        let refused = [claim(both, "43", now: 0), claim(both, "43"), claim(Self.page(), "51")]
        #expect(refused == [.none, .refused(2), .none])
    }

    /// The id stands outside of what is signed: whoever caught a push may write any beside it.
    @Test mutating func oneTokenIsOnePush() throws {
        let token = DeviceMessageTests.token(1)
        var taken: [PushInbox.Taking] = []
        for number in 0...PushInbox.mostOfOneDevice {
            taken.append(inbox.take(try DeviceMessageTests.delivered(token, id: "AUTHENTICATE:\(number)"), now: 0))
        }
        #expect(taken == [.taken] + Array(repeating: .known, count: PushInbox.mostOfOneDevice))
        let another = inbox.take(
            try DeviceMessageTests.delivered(DeviceMessageTests.token(2), id: "AUTHENTICATE:1"), now: 0)
        #expect(another == .taken)
    }

    /// However many there were: the one that ends first is forgotten for another.
    @Test mutating func whatWasSeenHasABound() throws {
        for number in 0...PushInbox.mostSeen {
            let now = 1000 + number
            let taken = inbox.take(try push(number), now: now)
            guard taken == .taken, case .push = claim(now: now) else {
                Issue.record("push \(number): \(taken)")
                return
            }
        }
        let now = 1001 + PushInbox.mostSeen
        let again = [inbox.take(try push(0), now: now), inbox.take(try push(2), now: now)]
        #expect(again == [.taken, .known])
    }

    @Test mutating func itsDelayIsKept() throws {
        let push = try push(1)
        _ = inbox.take(push, now: 100)
        let page = Self.page()
        let early = claim(page, after: 500, now: 599)
        let late = claim(page, after: 500, now: 600)
        #expect(early == .none && late == .push(push))
    }

    @Test mutating func itExpires() throws {
        _ = inbox.take(try push(1), now: 0)
        let late = claim(now: 60_000)
        #expect(late == .none)
        // whoever caught it may come with it later
        let caught = inbox.take(try push(1), now: 60_001)
        #expect(caught == .known)
        let again = inbox.take(try push(1), now: 86_400_000)
        #expect(again == .taken)
    }

    @Test mutating func oneDeviceHasSoMany() throws {
        var taken: [PushInbox.Taking] = []
        for number in 0...PushInbox.mostOfOneDevice { taken.append(inbox.take(try push(number), now: 0)) }
        #expect(taken == Array(repeating: .taken, count: PushInbox.mostOfOneDevice) + [.full])
    }

    @Test mutating func allDevicesTogetherHaveSoMany() throws {
        var taken: [PushInbox.Taking] = []
        for number in 0...PushInbox.most {
            let kept = DeviceMessageTests.kept("M\(number / PushInbox.mostOfOneDevice)")
            let token = DeviceMessageTests.token(number, of: kept)
            taken.append(inbox.take(try DeviceMessageTests.delivered(token, to: kept), now: 0))
        }
        #expect(taken == Array(repeating: .taken, count: PushInbox.most) + [.full])
    }
}
