import Formats
import HTTPCodec
import Interception
import Testing

@testable import Authorization

/// Second factors in a step-up: registered, kept, and answering.
@Suite("Devices in step-ups")
struct DeviceJourneyTests {
    final class Memory: StateStore, PushStore {
        var documents = StateDocuments()
        var devices = DeviceMemory()

        func value(of key: StateKey) -> [UInt8]? { documents.values["\(key.space)/\(key.name)"] }
        func documents(in space: StateSpace) -> [String: [UInt8]] {
            var found: [String: [UInt8]] = [:]
            for (name, value) in documents.values where name.hasPrefix("\(space)/") {
                found[String(name.dropFirst("\(space)/".count))] = value
            }
            return found
        }
        func change(_ key: StateKey, _ body: (inout [UInt8]?) -> Void) -> Bool {
            var value = value(of: key)
            body(&value)
            return documents.put("\(key.space)/\(key.name)", value)
        }
        func change<Result>(_ body: (inout DeviceMemory) -> Result) -> Result { body(&devices) }
    }

    private let memory = Memory()

    private func now(_ milliseconds: Int = 0) -> Circumstances {
        Circumstances(
            seconds: 1_700_000_000 + milliseconds / 1000, state: memory, milliseconds: milliseconds, pushes: memory)
    }

    private func machine(at start: Int = 0, _ change: (inout Device) -> Void = { _ in }) -> StepUp {
        var device = Device(name: "phone", users: ["bob"], server: DeviceMessageTests.server)
        device.push = .approve
        change(&device)
        var policy = AuthorizationPolicy(
            resources: [.init(url: "https://api.example.com/*")], server: DeviceMessageTests.server)
        policy.devices = [device]
        var machine = StepUp(policy: policy, advice: StepUpTests.transaction, session: "SESSION-A", realm: "/alpha")
        _ = machine.begin(now(start))
        return machine
    }

    private func answer(_ machine: inout StepUp, _ body: String, status: Int = 200, at time: Int = 0) -> StepUp.Command
    {
        machine.answered(status: status, fields: FieldTable(), body: Array(body.utf8), now(time))
    }

    private static let bob = "{\"username\":\"bob\",\"universalId\":\"id=bob,ou=user\"}"
    private static let button =
        "{\"type\":\"ConfirmationCallback\",\"output\":[{\"name\":\"options\",\"value\":[\"Next\"]}],\"input\":[{\"name\":\"IDToken9\",\"value\":100}]}"
    private static let waiting =
        "{\"type\":\"PollingWaitCallback\",\"output\":[{\"name\":\"waitTime\",\"value\":\"2000\"}]}"
    private static let code =
        "{\"type\":\"NameCallback\",\"output\":[{\"name\":\"prompt\",\"value\":\"Enter verification code\"}],\"input\":[{\"name\":\"IDToken1\",\"value\":\"\"}]}"
    private static let otp = "otpauth://hotp/Example:bob?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0&digits=6"

    private func hidden(_ id: String, _ value: String) -> String {
        "{\"type\":\"HiddenValueCallback\",\"output\":[{\"name\":\"value\",\"value\":\"\(value)\"},{\"name\":\"id\",\"value\":\"\(id)\"}],\"input\":[{\"name\":\"IDToken8\",\"value\":\"\(id)\"}]}"
    }

    private func page(_ callbacks: String...) -> String {
        "{\"authId\":\"a\",\"callbacks\":[\(callbacks.joined(separator: ","))]}"
    }

    /// RFC 4226 §D: 755224, 287082.
    @Test func codesOfADeviceThatWasRegistered() throws {
        var machine = machine()
        let registration = page(hidden("mfaDeviceRegistration", Self.otp), Self.button)
        #expect(answer(&machine, registration).call?.head.path.hasSuffix("/sessions") == true)
        let next = try #require(answer(&machine, Self.bob).call)
        #expect(try JSONValue(parsing: next.body)["callbacks"]?[1]?["input"]?[0]?["value"] == .integer(0))
        // AM has not gone on yet
        #expect(memory.keptDevices.isEmpty)
        let first = try #require(answer(&machine, page(Self.code, Self.button)).call)
        #expect(memory.keptDevices.map(\.device) == ["phone"])
        #expect(try JSONValue(parsing: first.body)["callbacks"]?[0]?["input"]?[0]?["value"]?.text == "755224")

        var other = self.machine()
        _ = answer(&other, page(Self.code, Self.button))
        let second = try #require(answer(&other, Self.bob).call)
        #expect(try JSONValue(parsing: second.body)["callbacks"]?[0]?["input"]?[0]?["value"]?.text == "287082")
    }

    @Test func nobodyElseHasItsCodes() throws {
        #expect(memory.keep(try #require(KeptDevice.oath(Self.otp, user: "bob"))))
        var machine = machine { $0.users = ["*"] }
        _ = answer(&machine, page(Self.code))
        let order = answer(&machine, "{\"username\":\"alice\"}")
        #expect(order.failure?.code == .unanswered)
    }

    /// A user of that name is another one there.
    @Test(arguments: [
        ("https://am.example.com/am", "/alpha", true), ("https://other.example.com/am", "/alpha", false),
        ("https://am.example.com/am", "/beta", false),
    ])
    func aDeviceAnswersWhereItIsRegistered(_ server: String, _ realm: String, _ answers: Bool) throws {
        let bob = try #require(KeptDevice.oath(Self.otp, user: "bob", server: server, realm: realm))
        #expect(memory.keep(bob))
        var machine = machine()
        _ = answer(&machine, page(Self.code))
        #expect((answer(&machine, Self.bob).call != nil) == answers)
    }

    /// A device of the configuration is kept for each user; whom it does not serve any more has no answer from it.
    @Test(arguments: [(["bob"], true), (["alice"], false)])
    func aDeviceAnswersThePushesOfItsUsers(_ users: [String], _ answers: Bool) throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        var machine = machine { $0.users = users }
        _ = answer(&machine, page(Self.waiting))
        _ = answer(&machine, Self.bob)
        try deliver(1, at: 50)
        #expect((machine.woke(now(600)).call != nil) == answers)
    }

    @Test func aPushIsRegisteredAndApprovedInTime() throws {
        var machine = machine { $0.delay = 500 }
        let registration = page(hidden("mfaDeviceRegistration", DeviceMessageTests.pushURI()), Self.waiting)
        _ = answer(&machine, registration)
        let message = try #require(answer(&machine, Self.bob).call)
        #expect(message.action == .pushRegister && message.head.url == DeviceMessageTests.base + "register")
        #expect(message.head.fields["Cookie"] == "amlbcookie=01")
        #expect(memory.keptDevices.isEmpty)
        #expect(answer(&machine, "{}").wait == 100)
        let kept = try #require(memory.keptDevices.first)
        #expect(kept.user == "bob" && kept.isPush)
        // the page goes back when its time has come
        #expect(machine.woke(now(1900)).wait == 100)
        #expect(machine.woke(now(2000)).call?.action == .authenticate)
        #expect(answer(&machine, page(Self.waiting), at: 2000).wait == 100)
        let mechanism = try #require(kept.push?.mechanism)
        let claims: JSONValue = ["c": .string(Base64.encode(DeviceMessageTests.challenge)), "u": .string(mechanism)]
        let token = try #require(SignedClaims.sign(claims, key: DeviceMessageTests.secret))
        let push = try PushMessage(
            delivered: Array("{\"messageId\":\"AUTHENTICATE:7\",\"message\":\"\(token)\"}".utf8),
            at: 1_700_000_002, to: DeviceMessageTests.device(kept))
        _ = memory.devices.inbox.take(push, now: 2000)
        #expect(machine.woke(now(2400)).wait == 100)
        let approval = try #require(machine.woke(now(2500)).call)
        #expect(approval.action == .pushAuthenticate)
        #expect(try JSONValue(parsing: approval.body)["messageId"]?.text == "AUTHENTICATE:7")
        #expect(answer(&machine, "{}", at: 2500).wait == 100)
        #expect(machine.takeNotes().contains { $0.contains("the device phone approves the push") })
    }

    @Test func aRegistrationThatAMDoesNotTakeIsNotKept() {
        var machine = machine()
        _ = answer(&machine, page(hidden("mfaDeviceRegistration", DeviceMessageTests.pushURI()), Self.waiting))
        _ = answer(&machine, Self.bob)
        #expect(answer(&machine, "{}", status: 400).wait == 100)
        #expect(memory.keptDevices.isEmpty)
        #expect(machine.takeNotes().contains { $0.contains("AM refused the message of the device phone (400)") })
    }

    /// As many devices as may be kept, put where they are kept: `keep` looks at all of them each time.
    private func fill(_ device: (Int) -> KeptDevice) {
        for number in 0..<KeptDevice.most {
            let device = device(number)
            memory.set(StateKey(.devices, device.id), device.document)
        }
        #expect(memory.keptDevices.count == KeptDevice.most)
    }

    /// AM would have a device whose secret nobody has, and the user be locked out of the tree.
    @Test func nothingIsRegisteredThatCannotBeKept() {
        fill { DeviceMessageTests.kept("M\($0)", user: "user\($0)") }
        var machine = machine()
        _ = answer(&machine, page(hidden("mfaDeviceRegistration", DeviceMessageTests.pushURI()), Self.waiting))
        #expect(answer(&machine, Self.bob).wait == 100)
        #expect(machine.takeNotes().contains { $0.contains("there is no room for more devices") })
        var other = self.machine()
        _ = answer(&other, page(hidden("mfaDeviceRegistration", Self.otp), Self.button))
        // the button would have AM take the device
        #expect(answer(&other, Self.bob).failure?.code == .unanswered)
    }

    /// Runs of tests register each time; who has many already loses the oldest.
    @Test func aNewDeviceTakesThePlaceOfAnOldOne() throws {
        fill { DeviceMessageTests.kept("M\($0)", user: $0 < 4 ? "bob" : "user\($0)", registered: $0) }
        let oldest = DeviceMessageTests.kept("M0").id
        var machine = machine()
        _ = answer(&machine, page(hidden("mfaDeviceRegistration", DeviceMessageTests.pushURI()), Self.waiting))
        #expect(answer(&machine, Self.bob).call?.action == .pushRegister)
        #expect(memory.keptDevices.contains { $0.id == oldest })
        _ = answer(&machine, "{}")
        let left = memory.keptDevices
        #expect(left.count == KeptDevice.most && left.count { $0.user == "bob" } == 4)
        #expect(!left.contains { $0.id == oldest })
    }

    @Test func aRegistrationElsewhereIsNotSaid() {
        var machine = machine()
        let uri = DeviceMessageTests.pushURI(register: "https://evil.example.com/push/sns/message?_action=register")
        _ = answer(&machine, page(hidden("mfaDeviceRegistration", uri), Self.waiting))
        #expect(answer(&machine, Self.bob).wait == 100)
        #expect(machine.takeNotes().contains { $0.contains("nothing is sent there") })
    }

    @Test(arguments: [(Device.Number.shown, "43"), (.wrong, "34")])
    func aNumberIsChosenOnTheRightPage(_ number: Device.Number, _ chosen: String) throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        _ = memory.devices.inbox.take(try DeviceMessageTests.delivered(), now: 0)
        var machine = machine { $0.number = number }
        _ = answer(&machine, page(Self.waiting, hidden("pushChallengeNumber", "99")))
        _ = answer(&machine, Self.bob)
        // the push offers no 99: it belongs to another journey
        #expect(machine.woke(now(100)).wait == 100)
        #expect(machine.woke(now(2000)).call?.action == .authenticate)
        _ = answer(&machine, page(Self.waiting, hidden("pushChallengeNumber", "43")), at: 2000)
        let call = try #require(machine.woke(now(2100)).call)
        let token = try #require(try JSONValue(parsing: call.body)["jwt"]?.text)
        #expect(SignedClaims.unverified(token)?["challengeResponse"]?.text == chosen)
    }

    private func deliver(_ number: Int, at time: Int) throws {
        let push = try DeviceMessageTests.delivered(
            DeviceMessageTests.token(number), id: "AUTHENTICATE:\(number)")
        _ = memory.devices.inbox.take(push, now: time)
    }

    /// Somebody else logs in as the same user, and the robot approves nothing but its own.
    @Test func aPushOfAnotherLoginIsNotAnswered() throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        try deliver(1, at: 900)
        var machine = machine(at: 1000)
        _ = answer(&machine, page(Self.waiting), at: 1010)
        #expect(answer(&machine, Self.bob, at: 1020).wait == 100)
        #expect(machine.woke(now(1600)).wait == 100, "the push was there before AM was asked")
        try deliver(2, at: 1650)
        let call = try #require(machine.woke(now(1700)).call)
        #expect(try JSONValue(parsing: call.body)["messageId"]?.text == "AUTHENTICATE:2")
        #expect(answer(&machine, "{}", at: 1710).wait == 100)
        // that page has had its answer
        try deliver(3, at: 1800)
        #expect(machine.woke(now(2500)).wait == 100)
        #expect(machine.woke(now(3100)).call?.action == .authenticate)
        // AM waits for another one, which it sends when it is asked again
        _ = answer(&machine, page(Self.waiting), at: 3110)
        #expect(machine.woke(now(3800)).wait == 100)
        try deliver(4, at: 3850)
        let next = try #require(machine.woke(now(3900)).call)
        #expect(try JSONValue(parsing: next.body)["messageId"]?.text == "AUTHENTICATE:4")
    }

    @Test func pushesThatCannotBeToldApartEndIt() throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        var machine = machine()
        _ = answer(&machine, page(Self.waiting))
        _ = answer(&machine, Self.bob)
        for number in 1...2 { try deliver(number, at: 50) }
        #expect(machine.woke(now(100)).wait == 100)
        let failure = try #require(machine.woke(now(600)).failure)
        #expect(failure.code == .unanswered && failure.reason.hasPrefix("2 pushes wait for the device phone"))
    }

    @Test func twoStepUpsHaveEachTheirPush() throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        var machines = [machine(), machine()]
        for index in machines.indices {
            _ = answer(&machines[index], page(Self.waiting))
            _ = answer(&machines[index], Self.bob)
            try deliver(index, at: 50)
        }
        for index in machines.indices { #expect(machines[index].woke(now(100)).wait == 100) }
        for index in machines.indices {
            let call = try #require(machines[index].woke(now(600)).call)
            #expect(try JSONValue(parsing: call.body)["messageId"]?.text == "AUTHENTICATE:\(index)")
        }
    }

    @Test func whatIsIgnoredIsNotAnswered() throws {
        #expect(memory.keep(DeviceMessageTests.kept()))
        _ = memory.devices.inbox.take(try DeviceMessageTests.delivered(), now: 0)
        var machine = machine { $0.push = .ignore }
        _ = answer(&machine, page(Self.waiting, hidden("pushChallengeNumber", "43")))
        #expect(answer(&machine, Self.bob).wait == 2000)
        #expect(machine.woke(now(2000)).call?.action == .authenticate)
    }
}

extension KeptDevice {
    fileprivate static func oath(
        _ uri: String, user: String, server: String = DeviceMessageTests.server.url, realm: String = "/alpha"
    ) -> KeptDevice? {
        DeviceRegistration.find(in: DeviceMessageTests.step(uri)).first.map { registration in
            KeptDevice(
                Place(server: server, realm: realm, user: user), device: "phone", registration, registered: 0,
                factor: .oath(uri: uri))
        }
    }
}
