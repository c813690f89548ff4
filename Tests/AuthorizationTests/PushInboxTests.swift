import Testing

@testable import Authorization

@Suite("Pushes that wait for an answer")
struct PushInboxTests {
    private var inbox = PushInbox()
    private let device = DeviceMessageTests.kept().id

    private func push(_ number: Int) throws -> PushMessage {
        try DeviceMessageTests.delivered(DeviceMessageTests.token(number), id: "AUTHENTICATE:\(number)")
    }

    @Test mutating func eachIsTakenAndAnsweredOnce() throws {
        let push = try push(1)
        let taken = [inbox.take(push, now: 0), inbox.take(push, now: 1)]
        #expect(taken == [.taken, .known])
        let claimed = [
            inbox.claim("another", after: 0, now: 2) { _ in true },
            inbox.claim(device, after: 0, now: 2) { _ in false },
            inbox.claim(device, after: 0, now: 2) { _ in true }, inbox.claim(device, after: 0, now: 2) { _ in true },
        ]
        #expect(claimed == [nil, nil, push, nil])
        let again = inbox.take(push, now: 3)
        #expect(again == .known)
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

    @Test mutating func itsDelayIsKept() throws {
        _ = inbox.take(try push(1), now: 100)
        let early = inbox.claim(device, after: 500, now: 599) { _ in true }
        let late = inbox.claim(device, after: 500, now: 600) { _ in true }
        #expect(early == nil && late != nil)
    }

    @Test mutating func itExpires() throws {
        _ = inbox.take(try push(1), now: 0)
        let late = inbox.claim(device, after: 0, now: 60_000) { _ in true }
        #expect(late == nil)
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
}
