import Authorization
import ContentCoding
import Formats
import Interception
import Testing

@testable import ProxyCore

/// Devices that look on while an app runs a journey through the proxy.
@Suite struct DeviceWatchTests {
    private let book = DeviceBook()
    private let flows = Flows()

    private func talk(_ change: (inout Device) -> Void = { _ in }, delivery: Delivery = .whole) -> Conversation {
        var device = Device(name: "phone", users: ["bob"], server: server)
        device.push = .approve
        device.isSeen = true
        change(&device)
        var settings = Settings()
        settings.servers = [server]
        settings.devices = [device]
        let talk = Conversation(settings, flows: flows, devices: book, delivery: delivery)
        talk.driver.tell(time: 1_700_000_000)
        return talk
    }

    private static let target = "http://am.test/am/json/realms/root/realms/alpha/authenticate"
    private static func post(_ body: String, query: String = "") -> String {
        "POST \(target)\(query) HTTP/1.1\r\nHost: am.test\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
    private static let start = post("", query: "?authIndexType=service&authIndexValue=Push")
    private static func coded(_ text: String) -> String { Base64.encode(Array(text.utf8), urlSafe: true) }

    private static var offer: String {
        let base = "http://am.test/am/json/realms/root/realms/alpha/push/sns/message?_action="
        let uri =
            "pushauth://push/Example:bob?m=REGISTER:1&s=\(coded("secret"))&c=\(coded("challenge"))"
            + "&r=\(coded(base + "register"))&a=\(coded(base + "authenticate"))"
        let hidden = "{\"type\":\"HiddenValueCallback\",\"output\":[{\"name\":\"value\",\"value\":\"\(uri)\"}]}"
        return
            "{\"authId\":\"opaque\",\"callbacks\":[\(hidden),{\"type\":\"PollingWaitCallback\",\"output\":[]}]}"
    }

    /// The page waits until AM has taken the registration, and passes as it is.
    @Test(arguments: Delivery.all)
    func aRegistrationIsMadeBeforeTheAppHasThePage(_ delivery: Delivery) {
        let talk = talk(delivery: delivery)
        talk.client(Self.start)
        talk.connects()
        #expect(talk.originGot().hasPrefix("POST /am/json/realms/root/realms/alpha/authenticate?"))
        talk.origin(SteppingUp.json(Self.offer))
        #expect(talk.clientGot() == "")
        talk.connects()
        #expect(talk.originGot().contains("/push/sns/message?_action=register HTTP/1.1\r\n"), "\(talk.notes)")
        talk.origin(SteppingUp.json("{}"))
        #expect(talk.clientGot().hasSuffix(Self.offer), "\(talk.notes)")
        #expect(book.keptDevices.map(\.user) == ["bob"])
        #expect(talk.noted("PUSH_REGISTER: call 1 of a device to") && talk.noted("registered for pushes"))
        // whose flow the next call belongs to is learned all the same
        #expect(flows.payloads["opaque"] == ActionPayload(tree: "Push", type: "service"))
    }

    @Test func aPageInACodingIsReadAndPassesAsItIs() throws {
        let talk = talk()
        talk.client(Self.start)
        talk.connects()
        let body = try BodyEncoder.encode(Array(Self.offer.utf8), [.gzip])
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
        talk.origin(Array(head.utf8) + body)
        talk.connects()
        talk.origin(SteppingUp.json("{}"))
        #expect(book.keptDevices.count == 1 && flows.payloads["opaque"]?.tree == "Push", "\(talk.notes)")
        #expect(talk.driver.sent.suffix(body.count) == body[...])
    }

    @Test func whatAMDoesNotAnswerHoldsNothingUpForLong() {
        let talk = talk()
        talk.client(Self.start)
        talk.connects()
        talk.origin(SteppingUp.json(Self.offer))
        talk.connects()
        #expect(talk.originGot().contains("_action=register"))
        talk.driver.waits(10_000)
        #expect(talk.clientGot().hasSuffix(Self.offer), "\(talk.notes)")
        #expect(talk.noted("what the device had to say came to nothing") && book.keptDevices.isEmpty)
        #expect(talk.driver.isIdle)
    }

    @Test func aCallThatFailsHoldsNothingUp() {
        let talk = talk()
        talk.client(Self.start)
        talk.connects()
        talk.origin(SteppingUp.json(Self.offer))
        talk.connects()
        talk.driver.originEnds()
        #expect(talk.clientGot().hasSuffix(Self.offer), "\(talk.notes)")
    }

    /// The configuration is another one since the last page: what was known of the journey is not gone on with.
    @Test func theDevicesOfTheMomentGoOnWithAJourney() {
        let page = SteppingUp.json("{\"authId\":\"opaque\",\"callbacks\":[{\"type\":\"NameCallback\",\"output\":[]}]}")
        let first = talk()
        first.client(Self.start)
        first.connects()
        first.origin(page)
        #expect(first.clientGot().contains("opaque"))
        let second = talk { $0.name = "tablet" }
        second.client(Self.post("{\"authId\":\"opaque\",\"callbacks\":[]}"))
        second.connects()
        second.origin(SteppingUp.json(Self.offer))
        second.connects()
        second.origin(SteppingUp.json("{}"))
        #expect(book.keptDevices.map(\.device) == ["tablet"], "\(second.notes)")
    }

    @Test func whatIsNotToBeSeenIsNot() {
        for change: (inout Device) -> Void in [{ $0.isSeen = false }, { $0.users = ["alice"] }] {
            let talk = talk(change)
            talk.client(Self.start)
            talk.connects()
            talk.origin(SteppingUp.json(Self.offer))
            #expect(talk.clientGot().hasSuffix(Self.offer) && talk.driver.dialing == nil)
        }
        #expect(book.keptDevices.isEmpty)
    }
}
