import Addresses
import ProxyCore
import Testing

@Suite("The proxy's own addresses")
struct OwnAddressTests {
    private func own(_ text: String) throws -> OwnAddresses {
        OwnAddresses([(try #require(IPAddress(text)), 3128)])
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "0.0.0.0"), ("127.0.0.1", "::"), ("127.0.0.1", "::ffff:127.0.0.1"),
        ("127.0.0.1", "64:ff9b::7f00:1"), ("::ffff:127.0.0.1", "127.0.0.1"), ("::1", "::"),
        ("192.0.2.1", "2002:c000:201::"),
        ("0.0.0.0", "127.9.9.9"), ("0.0.0.0", "0.0.0.0"), ("::", "127.0.0.1"), ("::", "::1"), ("::", "64:ff9b::7f00:1"),
    ])
    func isHeard(_ listener: String, _ address: String) throws {
        #expect(try own(listener).contains(try #require(IPAddress(address)), port: 3128))
        #expect(try !own(listener).contains(try #require(IPAddress(address)), port: 3129))
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.2"), ("127.0.0.1", "::1"), ("0.0.0.0", "192.0.2.1"), ("192.0.2.1", "127.0.0.1"),
    ])
    func isNotHeard(_ listener: String, _ address: String) throws {
        #expect(try !own(listener).contains(try #require(IPAddress(address)), port: 3128))
    }

    @Test func aConnectionToItselfIsHeardByAListenerOnEveryAddress() throws {
        let machine = try #require(IPAddress("192.0.2.1"))
        #expect(try own("0.0.0.0").contains(machine, port: 3128, from: IPAddress("::ffff:192.0.2.1")))
        #expect(try !own("0.0.0.0").contains(machine, port: 3129, from: machine))
        #expect(try !own("0.0.0.0").contains(machine, port: 3128, from: IPAddress("192.0.2.2")))
        #expect(try !own("0.0.0.0").contains(machine, port: 3128, from: nil))
        #expect(try !own("192.0.2.7").contains(machine, port: 3128, from: machine))
    }
}
