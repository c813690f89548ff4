import Addresses
import ProxyCore
import Testing

@Suite struct AddressTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::", "::"),
        ("::1", "::1"), ("1::", "1::"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
        ("2001:db8::1:0:0:1", "2001:db8::1:0:0:1"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"),
        ("1:0:0:4:0:0:7:8", "1::4:0:0:7:8"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
        ("1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:c000:201"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
    ])
    func readsAndWrites(_ text: String, _ canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(bytes: address.bytes) == address)
        #expect(IPAddress(canonical) == address)
    }

    @Test(arguments: [
        "", ".", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "0x7f.0.0.1", "2130706433", "1.2.3.4 ", "1.2.3.",
        "-1.2.3.4",
        ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8",
        "12345::",
        "g::", "[::1]", "fe80::1%eth0", "1.2.3.4::", "::1.2.3", ":1", "1:", "::1.2.3.4:5",
    ])
    func refuses(_ text: String) { #expect(IPAddress(text) == nil) }

    @Test func bytesAreFourOrSixteen() {
        #expect(IPAddress(bytes: [127, 0, 0, 1])?.description == "127.0.0.1")
        #expect(IPAddress(bytes: [UInt8](repeating: 0, count: 15) + [1])?.description == "::1")
        #expect(IPAddress(bytes: [1, 2, 3]) == nil && IPAddress(bytes: []) == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("0.0.0.0/0", "203.0.113.9", true),
        ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "2001:db8::1", true), ("::/0", "10.0.0.1", false),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("fe80::/10", "febf::1", true),
        ("fe80::/10", "fec0::1", false), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
        ("::ffff:10.0.0.0/104", "10.1.2.3", true),
        ("::ffff:10.0.0.1", "10.0.0.1", true), ("2001:db8::/127", "2001:db8::1", true),
        ("10.0.0.2/31", "10.0.0.3", true),
    ])
    func blocksHold(_ block: String, _ address: String, _ isInside: Bool) throws {
        #expect(try #require(AddressBlock(block)).contains(try #require(IPAddress(address))) == isInside)
    }

    @Test(arguments: ["10.0.0.1/8", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/08a", "/8", "10.0.0.0/8/8", "a/8"])
    func refusesBlocks(_ text: String) { #expect(AddressBlock(text) == nil) }

    @Test(arguments: [
        (AddressGroup.loopback, "127.9.9.9"), (.loopback, "::1"), (.loopback, "0.0.0.0"),
        (.loopback, "::ffff:127.0.0.1"),
        (.linkLocal, "169.254.7.7"), (.linkLocal, "fe80::1"), (.metadata, "169.254.169.254"),
        (.metadata, "fd00:ec2::254"),
        (.metadata, "::ffff:169.254.169.254"), (.private, "172.31.255.255"), (.private, "192.168.0.1"),
        (.private, "fdff::1"),
    ])
    func groupsHold(_ group: AddressGroup, _ address: String) throws {
        #expect(group.contains(try #require(IPAddress(address))))
    }

    @Test(arguments: [
        (AddressGroup.loopback, "128.0.0.1"), (.linkLocal, "169.253.255.255"), (.metadata, "169.254.169.253"),
        (.private, "172.32.0.0"), (.private, "fe00::"),
    ])
    func groupsEnd(_ group: AddressGroup, _ address: String) throws {
        #expect(!group.contains(try #require(IPAddress(address))))
    }

    @Test func clientsAreLoopbackUnlessToldOtherwise() throws {
        func admits(_ policy: ClientPolicy, _ text: String) throws -> Bool {
            policy.admits(try #require(IPAddress(text)))
        }
        #expect(try admits(ClientPolicy(), "127.0.0.1") && admits(ClientPolicy(), "::ffff:127.0.0.1"))
        #expect(try !admits(ClientPolicy(), "192.0.2.1") && !admits(ClientPolicy(), "::2"))
        let wider = ClientPolicy(allow: [.block(try #require(AddressBlock("192.0.2.0/24")))])
        #expect(try admits(wider, "192.0.2.9") && !admits(wider, "127.0.0.1"))
        #expect(try !admits(ClientPolicy(allow: []), "127.0.0.1"))
    }
}
