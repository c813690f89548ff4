import Testing

@testable import TLSEngine

@Suite("The hello of a TLS client")
struct ClientHelloTests {
    private static let h2 = Array("h2".utf8)
    private static let http11 = Array("http/1.1".utf8)

    /// Recorded with OpenSSL 3.0, curl 7.88, Python 3.11, Node 20, wget 1.21, Java 17, Chromium.
    @Test(
        arguments: [
            ("openssl", "openssl.example.com", [h2, http11], UInt16(0x0304)),
            ("openssl-1.2", "old.example.com", [], 0x0303),
            ("openssl-1.0", "older.example.com", [], 0x0301),
            ("openssl-nameless", nil, [], 0x0304),
            ("curl", "curl.example.com", [h2, http11], 0x0304),
            ("curl-address", nil, [h2, http11], 0x0304),
            ("python", "python.example.com", [http11], 0x0304),
            ("python-address", nil, [], 0x0304),
            ("node", "node.example.com", [http11], 0x0304),
            ("node-fetch", "localhost", [http11], 0x0304),
            ("wget", "localhost", [], 0x0304),
            ("java", "java.example.com", [], 0x0304),
            ("java-alpn", "java.example.com", [h2, http11], 0x0304),
            ("chromium", "chromium.example.com", [h2, http11], 0x0304),
        ] as [(String, String?, [[UInt8]], UInt16)])
    func programs(_ program: String, _ name: String?, _ protocols: [[UInt8]], _ highest: UInt16) throws {
        let hello = ClientHello(
            serverName: name, protocols: protocols, offersTLS13: highest == 0x0304, highestVersion: highest)
        #expect(peek(try recorded(program)) == .hello(hello))
    }

    @Test func everyPrefixOfARealHelloAsksForMore() throws {
        let bytes = try recorded("chromium")
        for count in bytes.indices {
            #expect(ClientHello.peek(bytes.span.extracting(first: count)) == .needsMore, "\(count) bytes")
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "\u{0}", "\u{14}\u{3}\u{1}", "\u{15}\u{3}\u{3}\u{0}\u{2}",
        "\u{17}\u{3}\u{3}", "\u{16}\u{2}", "\u{16}\u{4}\u{1}", "\u{16}GET",
    ])
    func somethingElse(_ text: String) {
        #expect(peek(Array(text.utf8)) == .notTLS)
    }

    @Test func otherHellos() {
        // SSL 2.0, with the version of SSL 3.0 inside
        #expect(peek([0x80, 0x2E, 1, 3, 0, 0, 0x15, 0, 0, 0, 0x10]) == .notTLS)
        // a server's hello, and a client's finished
        #expect(peek([22, 3, 3, 0, 0x7A, 2]) == .notTLS)
        #expect(peek([22, 3, 3, 0, 0x28, 20]) == .notTLS)
        // DTLS
        #expect(peek([22, 0xFE, 0xFF, 0, 0]) == .notTLS)
        // told by the first byte that cannot be, and not before
        #expect(peek([]) == .needsMore)
        #expect(peek([22]) == .needsMore)
        #expect(peek([22, 3]) == .needsMore)
        #expect(peek([22, 3, 1, 2, 0]) == .needsMore)
        #expect(peek([22, 3, 1, 2, 0, 1]) == .needsMore)
    }

    // MARK: records

    @Test(arguments: [1, 2, 3, 4, 5, 60, 100])
    func overSeveralRecords(_ size: Int) throws {
        let whole = Hello(serverName("a.example".utf8) + protocols([Self.h2]) + versions([0x0304, 0x0303]))
        let expected = ClientHello(
            serverName: "a.example", protocols: [Self.h2], offersTLS13: true, highestVersion: 0x0304)
        #expect(peek(whole.records()) == .hello(expected))
        #expect(peek(whole.records(of: size)) == .hello(expected))
        // it ends exactly at a record's end
        #expect(peek(whole.records(of: whole.message.count)) == .hello(expected))
        #expect(peek(whole.records().dropLast()) == .needsMore)
        #expect(peek(whole.records(of: size).dropLast()) == .needsMore)
    }

    @Test func recordsThatAreNone() {
        let message = Hello().message
        let begin = record(Array(message[..<20]))
        #expect(peek([22, 3, 1, 0, 0]) == .malformed("a record of the hello is empty"))
        #expect(peek(begin + record([])) == .malformed("a record of the hello is empty"))
        #expect(peek([22, 3, 1, 0x40, 1]) == .malformed("a record of the hello is over 16384 bytes"))
        #expect(peek([22, 3, 1, 0xFF, 0xFF, 1]) == .malformed("a record of the hello is over 16384 bytes"))
        for type in [20, 21, 23, 0, 255] as [UInt8] {
            let other = begin + record(Array(message[20...]), type: type)
            #expect(peek(other) == .malformed("a record of another kind stands inside the hello"))
        }
        #expect(
            peek(begin + [22, 2, 0, 0, 9]) == .malformed("a record inside the hello is of no version of TLS"))
        let more = ClientHello.Peek.malformed("more than the hello is in its last record")
        #expect(peek(record(message + [0])) == more)
        #expect(peek(record(message + message)) == more)
        // the lengths tell, before all of it is there
        #expect(peek(Array(record(message + [0]).prefix(9))) == more)
        #expect(peek(begin + record(Array(message[20...]) + [0])) == more)
    }

    @Test func largestMessage() {
        let largest = Hello(padded: 4 + ClientHello.maxBytes)
        #expect(largest.message.count == 4 + ClientHello.maxBytes)
        let expected = ClientHello.Peek.hello(ClientHello(highestVersion: 0x0303))
        #expect(ClientHello.peek(largest.records(of: 1 << 14).span) == expected)
        #expect(ClientHello.peek(largest.records(of: 9).span) == expected)
        #expect(peek(record(Array(Hello(padded: 5 + ClientHello.maxBytes).message.prefix(4)))) == .tooLarge)
        #expect(peek([22, 3, 1, 0x40, 0, 1, 0xFF, 0xFF, 0xFF]) == .tooLarge)
        #expect(peek([22, 3, 1, 0x40, 0, 1, 0xFF, 0xFF]) == .needsMore)
    }

    @Test func mostRecords() {
        #expect(
            ClientHello.peek(Hello(padded: ClientHello.maxRecords).records(of: 1).span)
                == .hello(ClientHello(highestVersion: 0x0303)))
        let over = Hello(padded: ClientHello.maxRecords + 1).records(of: 1)
        #expect(ClientHello.peek(over.span) == .tooLarge)
        let most = 6 * ClientHello.maxRecords
        #expect(ClientHello.peek(over.span.extracting(first: most)) == .tooLarge)
        #expect(ClientHello.peek(over.span.extracting(first: most - 1)) == .needsMore)
    }

    /// The longest that a client can make it: small records first, then all the rest in one.
    @Test func moreIsNotAskedForWithoutEnd() {
        let message = Hello(padded: 4 + ClientHello.maxBytes).message
        let small = ClientHello.maxRecords - 1
        var input = message.prefix(small).flatMap { record([$0]) }
        input += record(Array(message.dropFirst(small)))
        for count in Array(stride(from: 0, to: input.count, by: 61)) + [input.count - 1] {
            #expect(ClientHello.peek(input.span.extracting(first: count)) == .needsMore, "\(count) bytes")
        }
        #expect(ClientHello.peek(input.span) == .hello(ClientHello(highestVersion: 0x0303)))
        #expect(input.count == ClientHello.maxHeld)
    }
}
