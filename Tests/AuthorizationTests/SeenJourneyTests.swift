import HTTPCodec
import Interception
import Testing

@testable import Authorization

/// Journeys of apps as devices see them: pages and answers as they pass.
@Suite("Journeys that apps run")
struct SeenJourneyTests {
    private let memory = DeviceJourneyTests.Memory()
    private static let head =
        (try? RequestHead(
            method: "POST", url: "https://am.example.com/am/json/realms/root/realms/alpha/authenticate"))
        ?? RequestHead()
    private static let session = SessionSource(token: "SESSION", carrier: .cookie)

    private func now(_ milliseconds: Int = 0) -> Circumstances {
        Circumstances(
            seconds: 1_700_000_000 + milliseconds / 1000, state: memory, milliseconds: milliseconds, pushes: memory)
    }

    private func journey(_ change: (inout Device) -> Void = { _ in }) throws -> SeenJourney {
        var device = Device(name: "phone", users: ["bob"], server: DeviceMessageTests.server)
        device.push = .approve
        device.isSeen = true
        change(&device)
        return try #require(SeenJourney([device], at: Self.head, realm: "/alpha"))
    }

    private func answer(
        _ journey: inout SeenJourney, _ body: String, status: Int = 200, at time: Int = 0
    ) -> ServerCall? {
        journey.answered(status: status, body: Array(body.utf8), now(time)).call
    }

    private func ask(
        _ journey: inout SeenJourney, _ body: String = "{}", _ session: SessionSource? = nil, at time: Int = 0
    ) -> ServerCall? {
        journey.asked(Array(body.utf8), session: session, now(time)).call
    }

    private func called(
        _ journey: inout SeenJourney, _ body: String = "{}", status: Int = 200, at time: Int = 0
    ) -> ServerCall? {
        journey.called(status: status, body: Array(body.utf8), now(time)).call
    }

    private static let settled = PushInbox.settling

    private static let bob = "{\"username\":\"bob\",\"universalId\":\"id=bob,ou=user\"}"
    private static let waiting =
        "{\"type\":\"PollingWaitCallback\",\"output\":[{\"name\":\"waitTime\",\"value\":\"2000\"}]}"
    private static let otp = "otpauth://hotp/Example:bob?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0&digits=6"
    private static let success = "{\"tokenId\":\"NEW\",\"successUrl\":\"/console\"}"

    private static func hidden(_ id: String, _ value: String) -> String {
        "{\"type\":\"HiddenValueCallback\",\"output\":[{\"name\":\"value\",\"value\":\"\(value)\"},{\"name\":\"id\",\"value\":\"\(id)\"}]}"
    }

    private static func given(_ prompt: String, _ value: String) -> String {
        "{\"type\":\"NameCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"\(prompt)\"}],\"input\":[{\"name\":\"IDToken1\",\"value\":\"\(value)\"}]}"
    }

    private static func page(_ callbacks: String...) -> String {
        "{\"authId\":\"a\",\"callbacks\":[\(callbacks.joined(separator: ","))]}"
    }

    private static let offersCodes = page(hidden("mfaDeviceRegistration", otp))
    private static var offersPush: String {
        page(hidden("mfaDeviceRegistration", DeviceMessageTests.pushURI()), waiting)
    }

    private func deliver(numbered: Bool) throws {
        let token = numbered ? DeviceMessageTests.push : DeviceMessageTests.token(1)
        _ = memory.devices.inbox.take(try DeviceMessageTests.delivered(token), now: 0)
    }

    // MARK: where

    @Test func devicesThatAreNotToSeeItDoNot() {
        var device = Device(name: "phone", users: ["bob"], server: DeviceMessageTests.server)
        #expect(SeenJourney([device], at: Self.head, realm: "/alpha") == nil)
        device.isSeen = true
        #expect(SeenJourney([device], at: Self.head, realm: "/alpha") != nil)
        // a realm that is not configured, another server, another path of it
        #expect(SeenJourney([device], at: Self.head, realm: "/beta") == nil)
        for url in ["https://evil.example.com/am/json/authenticate", "https://am.example.com/other/json/authenticate"] {
            let head = (try? RequestHead(method: "POST", url: url)) ?? RequestHead()
            #expect(SeenJourney([device], at: head, realm: "/alpha") == nil)
        }
    }

    @Test func eachIsToldFromThoseOfOtherPlacesAndDevices() throws {
        var server = DeviceMessageTests.server
        server.realms = ["/alpha", "/beta"]
        let one = try journey { $0.server = server }
        #expect(one.isOf(try journey { $0.server = server }))
        var device = Device(name: "phone", users: ["bob"], server: server)
        (device.push, device.isSeen) = (.approve, true)
        #expect(one.isOf(try #require(SeenJourney([device], at: Self.head, realm: "/alpha"))))
        #expect(!one.isOf(try #require(SeenJourney([device], at: Self.head, realm: "/beta"))))
        device.delay = 1
        #expect(!one.isOf(try #require(SeenJourney([device], at: Self.head, realm: "/alpha"))))
    }

    // MARK: codes

    @Test func codesAreKeptOnceAMGoesOn() throws {
        var journey = try journey()
        #expect(answer(&journey, Self.offersCodes) == nil)
        #expect(memory.keptDevices.isEmpty)
        #expect(ask(&journey) == nil && answer(&journey, Self.page(Self.given("Name", ""))) == nil)
        #expect(memory.keptDevices.map(\.user) == ["bob"])
        // AM is asked whose session it came to
        let call = try #require(answer(&journey, Self.success))
        #expect(call.action == .sessionInfo && call.head.fields["Cookie"]?.contains("=NEW") == true)
        #expect(called(&journey, Self.bob) == nil)
        #expect(memory.keptDevices.map(\.user) == ["bob"])
        #expect(journey.takeNotes().contains { $0.contains("registered for one-time passwords") })
    }

    @Test func theirUserIsWhomAMNames() throws {
        var journey = try journey { $0.users = ["bob", "robert"] }
        _ = answer(&journey, Self.offersCodes)
        _ = answer(&journey, Self.success)
        _ = called(&journey, "{\"username\":\"robert\"}")
        #expect(memory.keptDevices.map(\.user) == ["robert"])
    }

    @Test func theyAreNobodysWhomAMNamesOtherwise() throws {
        var journey = try journey()
        _ = answer(&journey, Self.offersCodes)
        _ = answer(&journey, Self.success)
        _ = called(&journey, "{\"username\":\"mallory\"}")
        #expect(memory.keptDevices.isEmpty)
        #expect(journey.takeNotes().contains { $0.contains("AM says that the user is another one") })
    }

    @Test(arguments: ["{\"code\":401}", "[]", "", "{\"authId\":\"\"}"])
    func whatGoesWrongKeepsNothing(_ body: String) throws {
        var journey = try journey()
        _ = answer(&journey, Self.offersCodes)
        #expect(answer(&journey, body, status: body.contains("401") ? 401 : 200) == nil)
        #expect(memory.keptDevices.isEmpty)
    }

    @Test func aCodeThatTheAppGaveIsNotGivenOnceMore() throws {
        var journey = try journey()
        _ = answer(&journey, Self.offersCodes)
        _ = answer(&journey, Self.page(Self.given("Enter verification code", "")))
        // RFC 4226 §D: 755224, 287082, 359152
        _ = ask(&journey, Self.page(Self.given("Enter verification code", "287082")))
        let password = try #require(memory.keptDevices.first?.oneTimePassword)
        // a guess that AM refuses moves nothing
        _ = answer(&journey, "{\"code\":401}", status: 401)
        _ = ask(&journey, Self.page(Self.given("Enter verification code", "287082")))
        _ = answer(&journey, Self.page(Self.given("Enter verification code", "")))
        #expect(OneTimeCounters(state: memory).claim(password, seconds: 0) == .code("359152"))
    }

    /// One of this step, the one before or the one after.
    @Test(arguments: [(-1, true), (0, true), (1, true), (2, false)])
    func aCodeOfTheClockIsNotEither(_ offset: Int, _ isSeen: Bool) throws {
        let uri = "otpauth://totp/Example:bob?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&period=30&digits=6"
        var journey = try journey()
        _ = answer(&journey, Self.page(Self.hidden("mfaDeviceRegistration", uri)))
        _ = answer(&journey, Self.page(Self.given("Enter verification code", "")))
        let password = try #require(memory.keptDevices.first?.oneTimePassword)
        let counter = UInt64(1_700_000_000 / 30 + offset)
        let code = try #require(password.code(counter))
        _ = ask(&journey, Self.page(Self.given("Enter verification code", code)))
        _ = answer(&journey, Self.page(Self.given("Enter verification code", "")))
        let claim = OneTimeCounters(state: memory).claim(password, seconds: Int(counter) * 30)
        #expect(claim == (isSeen ? .taken : .code(code)))
    }

    // MARK: pushes

    @Test func aPushIsRegistered() throws {
        var journey = try journey()
        let call = try #require(answer(&journey, Self.offersPush))
        #expect(call.action == .pushRegister && call.head.url == DeviceMessageTests.base + "register")
        #expect(called(&journey) == nil)
        #expect(memory.keptDevices.map(\.isPush) == [true])
        // the page comes again while AM waits; it is offered once
        #expect(ask(&journey) == nil && answer(&journey, Self.offersPush) == nil)
    }

    @Test func whoeverIsNotConfiguredRegistersNothing() throws {
        var journey = try journey { $0.users = ["alice"] }
        #expect(answer(&journey, Self.offersPush) == nil)
    }

    @Test func aSessionTellsWhoRegisters() throws {
        var journey = try journey { $0.users = ["alice"] }
        _ = ask(&journey, "", Self.session)
        #expect(answer(&journey, Self.offersPush)?.action == .sessionInfo)
        #expect(called(&journey, "{\"username\":\"alice\"}")?.action == .pushRegister)
        _ = called(&journey)
        #expect(memory.keptDevices.map(\.user) == ["alice"])
    }

    @Test func aPushIsAnsweredBeforeTheAppAsksAgain() throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        var journey = try journey { $0.delay = 500 }
        _ = ask(&journey, Self.page(Self.given("User Name", "bob")))
        _ = answer(&journey, Self.page(Self.waiting))
        #expect(ask(&journey, Self.page(Self.waiting)) == nil)
        try deliver(numbered: false)
        #expect(ask(&journey, Self.page(Self.waiting), at: 400) == nil)
        let call = try #require(ask(&journey, Self.page(Self.waiting), at: 500))
        #expect(call.action == .pushAuthenticate)
        #expect(called(&journey) == nil)
        #expect(ask(&journey, Self.page(Self.waiting), at: 600) == nil)
    }

    /// Another login of the same user caused it, or may have.
    @Test func aPushOfAnotherLoginIsNotAnswered() throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        try deliver(numbered: false)
        var journey = try journey()
        _ = ask(&journey, Self.page(Self.given("User Name", "bob")), at: 100)
        _ = answer(&journey, Self.page(Self.waiting), at: 150)
        #expect(ask(&journey, Self.page(Self.waiting), at: 1000) == nil, "it came before AM was asked")
        for number in 2...3 {
            let push = try DeviceMessageTests.delivered(DeviceMessageTests.token(number))
            _ = memory.devices.inbox.take(push, now: 1000)
        }
        #expect(ask(&journey, Self.page(Self.waiting), at: 2000) == nil)
        #expect(journey.takeNotes().contains { $0.hasPrefix("2 pushes wait for the device phone") })
        #expect(ask(&journey, Self.page(Self.waiting), at: 3000) == nil && journey.takeNotes().isEmpty)
    }

    @Test(arguments: [("43", true), ("99", false), (nil, false)])
    func aNumberIsThatOfThePage(_ number: String?, _ isAnswered: Bool) throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        try deliver(numbered: true)
        var journey = try journey()
        _ = ask(&journey, Self.page(Self.given("User Name", "bob")))
        _ = answer(
            &journey,
            number.map { Self.page(Self.waiting, Self.hidden("pushChallengeNumber", $0)) } ?? Self.page(Self.waiting))
        #expect((ask(&journey, Self.page(Self.waiting), at: Self.settled) != nil) == isAnswered)
    }

    @Test func aPushIsAnsweredInJourneysOfItsUserAlone() throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        try deliver(numbered: false)
        var another = try journey { $0.users = ["*"] }
        _ = ask(&another, Self.page(Self.given("User Name", "alice")))
        _ = answer(&another, Self.page(Self.waiting))
        #expect(ask(&another, Self.page(Self.waiting), at: Self.settled) == nil)
        var nobody = try journey()
        _ = answer(&nobody, Self.page(Self.waiting))
        #expect(ask(&nobody, Self.page(Self.waiting), at: Self.settled) == nil)
        var own = try journey()
        _ = ask(&own, "", Self.session)
        _ = answer(&own, Self.page(Self.waiting))
        #expect(ask(&own, Self.page(Self.waiting), at: Self.settled)?.action == .sessionInfo)
        #expect(called(&own, Self.bob, at: Self.settled)?.action == .pushAuthenticate)
    }

    @Test func aPageThatDoesNotWaitIsNotAnsweredFor() throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        try deliver(numbered: false)
        var journey = try journey()
        _ = ask(&journey, Self.page(Self.given("User Name", "bob")))
        _ = answer(&journey, Self.page(Self.given("Name", "")))
        #expect(ask(&journey, Self.page(Self.given("Name", "bob"))) == nil)
    }

    @Test func whatAMDoesNotSayIsAskedOnce() throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        try deliver(numbered: false)
        var journey = try journey()
        _ = ask(&journey, "", Self.session)
        _ = answer(&journey, Self.page(Self.waiting))
        #expect(ask(&journey, Self.page(Self.waiting)) != nil)
        #expect(called(&journey, "{}", status: 401) == nil)
        #expect(ask(&journey, Self.page(Self.waiting), Self.session) == nil)
        #expect(journey.takeNotes().contains { $0.contains("AM does not name the session's user (401)") })
    }

    // MARK: the table

    @Test func journeysAreKnownByWhatTheyComeWith() throws {
        var journeys = SeenJourneys()
        let journey = try journey()
        journeys.remember(journey, "a", now: 0)
        #expect(journeys.journey("a", now: SeenJourneys.lifetime - 1)?.isOf(journey) == true)
        #expect(journeys.journey("a", now: SeenJourneys.lifetime) == nil && journeys.journey("b", now: 0) == nil)
        for number in 0..<SeenJourneys.most { journeys.remember(journey, "\(number)", now: 1) }
        #expect(journeys.journey("a", now: 1) == nil && journeys.journey("0", now: 1) != nil)
    }
}

extension SeenJourney.Command {
    fileprivate var call: ServerCall? { if case .send(let call) = self { call } else { nil } }
}
