import Addresses
import Testing

@Suite struct NetworkTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"),
        ("126.255.255.255", "126.255.255.255"), ("128.0.0.0", "128.0.0.0"),
        ("127.0.0.1", "127.0.0.0/8"), ("127.200.3.4", "127.0.0.0/8"), ("::1", "127.0.0.0/8"),
        ("::ffff:127.9.9.9", "127.0.0.0/8"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8:1:2::", "2001:db8:1:2::/64"), ("::2", "::/64"),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff::/64"),
    ])
    func aClientHasItsNetwork(_ address: String, _ network: String) throws {
        #expect(try #require(IPAddress(address)).clientNetwork == (try #require(AddressBlock(network))))
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.0/24"), ("::ffff:192.0.2.255", "192.0.2.0/24"), ("127.1.2.3", "127.0.0.0/8"),
        ("::1", "127.0.0.0/8"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"), ("2001:db8:1:ffff::", "2001:db8:1::/48"),
    ])
    func aSiteHasMore(_ address: String, _ network: String) throws {
        let address = try #require(IPAddress(address))
        #expect(address.siteNetwork == (try #require(AddressBlock(network))))
        #expect(address.siteNetwork.contains(address.clientNetwork))
        #expect(address.siteNetwork.contains(address) || address.bits == 1)
    }

    @Test(arguments: [
        ("192.0.2.77", 0, "0.0.0.0/0"), ("192.0.2.77", 31, "192.0.2.76/31"), ("192.0.2.77", 99, "192.0.2.77"),
        ("192.0.2.77", -1, "0.0.0.0/0"), ("2001:db8::1", 0, "::/0"), ("2001:db8::3", 127, "2001:db8::2/127"),
        ("::ffff:10.1.2.3", 8, "10.0.0.0/8"),
    ])
    func blocksLieAroundAnAddress(_ address: String, _ prefix: Int, _ block: String) throws {
        let around = AddressBlock(around: try #require(IPAddress(address)), prefix: prefix)
        #expect(around == (try #require(AddressBlock(block))))
    }
}
