import EventLoop
import ProxyCore
import Testing

@testable import ProxyDriver

@Suite("Where connections go", .serialized) struct DestinationTests {
    private static let four: [UInt8] = [127, 0, 0, 1]
    private static let six = [UInt8](repeating: 0, count: 15) + [1]

    /// `localhost` has two addresses. Nothing is against the one that does not answer; the other must not be tried.
    @Test(arguments: [(six, "::1"), (four, "127.0.0.0/8")])
    func everyAddressIsJudged(_ listening: [UInt8], _ denied: String) throws {
        let socket = try ListeningSocket(SocketAddress(address: listening, port: 0))
        let port = socket.address.port
        let proxy = try TestProxy { settings, _ in
            settings.destinations.deny = [denied].compactMap { DestinationPattern($0) }
        }
        let client = try proxy.client()
        client.send("GET http://localhost:\(port)/ HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
        let answer = client.readAnswer()
        #expect(answer.head.hasPrefix("HTTP/1.1 403 ") && answer.body.contains(denied))
        proxy.close()
        #expect(socket.address.port == port)
    }
}
