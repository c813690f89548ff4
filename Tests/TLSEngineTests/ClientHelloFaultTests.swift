import Testing

@testable import TLSEngine

@Suite("What a TLS client's hello holds, and what is wrong with it")
struct ClientHelloFaultTests {
    private func peek(_ hello: Hello, sourceLocation: SourceLocation = #_sourceLocation) -> ClientHello.Peek {
        TLSEngineTests.peek(hello.records(), sourceLocation: sourceLocation)
    }

    private func peek(
        _ extensions: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) -> ClientHello.Peek { peek(Hello(extensions), sourceLocation: sourceLocation) }

    private func hello(
        _ name: String? = nil, _ protocols: [String] = [], highest: UInt16 = 0x0303
    ) -> ClientHello.Peek {
        .hello(
            ClientHello(
                serverName: name, protocols: protocols.map { Array($0.utf8) }, offersTLS13: highest == 0x0304,
                highestVersion: highest))
    }

    // MARK: the message

    @Test func mayHaveNoExtensions() {
        var bare = Hello(nil)
        #expect(peek(bare) == hello())
        bare.session = []
        bare.version = 0x0300
        #expect(peek(bare) == hello(highest: 0x0300))
        #expect(peek([]) == hello())
        #expect(peek(anExtension(0xABCD, [1, 2, 3]) + anExtension(23, [])) == hello())
    }

    @Test func isCutShort() {
        let message = Hello(serverName("a.example".utf8)).message
        let body = message.count - 4
        for (count, words) in [
            (0, "the version"), (1, "the version"), (2, "the random"), (33, "the random"), (34, "the session id"),
            (66, "the session id"), (67, "the list of cipher suites"), (72, "the list of cipher suites"),
            (73, "the list of compression methods"), (74, "the list of compression methods"),
            (76, "the list of extensions"), (body - 1, "the list of extensions"),
        ] {
            let cut = record([1] + vector(3, Array(message[4..<4 + count])))
            #expect(TLSEngineTests.peek(cut) == .malformed("\(words) is cut short"), "\(count) bytes")
        }
    }

    @Test func hasLengthsThatAreNone() {
        var long = Hello()
        long.session = [UInt8](repeating: 0, count: 33)
        #expect(peek(long) == .malformed("the session id is over 32 bytes"))
        for ciphers in [[], [0x13], [0x13, 1, 0x13]] as [[UInt8]] {
            var odd = Hello()
            odd.ciphers = ciphers
            #expect(peek(odd) == .malformed("the list of cipher suites is empty or of odd length"))
        }
        var uncompressed = Hello()
        uncompressed.compression = []
        #expect(peek(uncompressed) == .malformed("the list of compression methods is empty"))
        var more = Hello()
        more.after = [0]
        #expect(peek(more) == .malformed("bytes follow the list of extensions"))
    }

    @Test func hasExtensionsThatDoNotFit() {
        let cut = ClientHello.Peek.malformed("an extension is cut short")
        #expect(peek([0]) == cut)
        #expect(peek([0, 23, 0]) == cut)
        #expect(peek([0, 23, 0, 1]) == cut)
        #expect(peek(anExtension(23, []) + [0, 51, 1, 0, 1]) == cut)
    }

    @Test func namesAnExtensionTwice() {
        #expect(
            peek(anExtension(23, []) + anExtension(5, [1]) + anExtension(23, []))
                == .malformed("extension 23 stands there twice"))
        let name = serverName("a.example".utf8)
        #expect(peek(name + name) == .malformed("extension 0 stands there twice"))
        #expect(peek(anExtension(0x1A1A, []) + anExtension(0x2A2A, [0])) == hello())
        // as many as there is room for
        let all = (100..<4100).flatMap { anExtension($0, []) }
        #expect(ClientHello.peek(Hello(all).records().span) == hello())
        #expect(
            ClientHello.peek(Hello(all + anExtension(100, [])).records().span)
                == .malformed("extension 100 stands there twice"))
    }

    // MARK: server_name

    @Test(
        arguments: [
            ("a.example", "a.example"), ("A.Example", "a.example"), ("a.example.", "a.example"),
            ("localhost", "localhost"),
            ("_dmarc.a_b.example", "_dmarc.a_b.example"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("a.example:443", "a.example"), ("a.example.:65536", "a.example"), ("-", "-"), ("1.2.3", "1.2.3"),
            ("1.2.3.4.5", "1.2.3.4.5"), ("1.2.3.256", "1.2.3.256"),
        ])
    func namesTheServer(_ name: String, _ read: String) {
        #expect(peek(serverName(name.utf8)) == hello(read))
    }

    @Test(arguments: ["192.0.2.1", "192.0.2.1.", "192.0.2.1:443", "0.0.0.0", "::1", "2001:DB8::1", "::ffff:192.0.2.1"])
    func namesAnAddress(_ name: String) {
        #expect(peek(serverName(name.utf8)) == hello())
    }

    @Test(arguments: [
        "a b", "a\u{0}", "\u{0}", "a.example\u{0}.evil.example", "bücher.example", "a.example:", "a.example:44a",
        "a.example:443:443", "[::1]:443", "[::1]", "::g", "a/b",
        "*.example", "a\r\n", "user@a.example", "fe80::1%eth0",
    ])
    func namesNobody(_ name: String) {
        #expect(peek(serverName(name.utf8)) == .malformed("the host name has an invalid byte"))
    }

    @Test func namesNothing() {
        let empty = ClientHello.Peek.malformed("the host name ends in an empty label")
        #expect(peek(serverName([])) == empty)
        #expect(peek(serverName(".".utf8)) == empty)
        #expect(peek(serverName("a.example..".utf8)) == empty)
        #expect(peek(serverName("a..example".utf8)) == .malformed("a label of the host name is empty"))
        #expect(peek(serverName(".example".utf8)) == .malformed("a label of the host name is empty"))
    }

    @Test func namesAreBounded() {
        let longest = String(repeating: "abcd.", count: 51)
        #expect(peek(serverName(longest.utf8)) == hello(String(longest.dropLast())))
        #expect(peek(serverName((longest + "a").utf8)) == .malformed("the host name is over 255 bytes"))
    }

    @Test func listsOfNames() {
        let name: [UInt8] = [0] + vector(2, Array("a.example".utf8))
        let other: [UInt8] = [1] + vector(2, [1, 2, 3])
        func names(_ list: [UInt8]) -> [UInt8] { anExtension(0, vector(2, list)) }
        #expect(peek(names(other + name)) == hello("a.example"))
        #expect(peek(names(other)) == hello())
        #expect(peek(names(name + name)) == .malformed("there is more than one host name"))
        let address: [UInt8] = [0] + vector(2, Array("192.0.2.1".utf8))
        #expect(peek(names(address + name)) == .malformed("there is more than one host name"))
        #expect(peek(names([])) == .malformed("the list of server names is empty"))
        #expect(peek(anExtension(0, [])) == .malformed("the list of server names is cut short"))
        #expect(peek(anExtension(0, [0, 20] + name)) == .malformed("the list of server names is cut short"))
        #expect(
            peek(anExtension(0, vector(2, name) + [0]))
                == .malformed("the list of server names is followed by bytes that are not its own"))
        #expect(peek(names(Array(name.dropLast()))) == .malformed("a server name is cut short"))
        #expect(peek(names(name + [0])) == .malformed("a server name is cut short"))
    }

    // MARK: protocols and versions

    @Test func offersProtocols() {
        let made: [[UInt8]] = [[0x0A, 0x0A], Array("h2".utf8), [0xFA, 0xFA], Array("http/1.1".utf8)]
        #expect(peek(protocols(made)) == hello(nil, ["h2", "http/1.1"]))
        #expect(peek(protocols([[0x0A, 0x0A]])) == hello())
        // near to what RFC 8701 made up, but not of it
        #expect(
            peek(protocols([[0x0A, 0x1A], [0x0B, 0x0B], [0x0A]])) == hello(nil, ["\n\u{1A}", "\u{B}\u{B}", "\n"]))
        let longest = String(repeating: "p", count: 255)
        #expect(peek(protocols([Array(longest.utf8)])) == hello(nil, [longest]))

        #expect(peek(protocols([[]])) == .malformed("the name of a protocol is empty"))
        #expect(peek(protocols([[1], []])) == .malformed("the name of a protocol is empty"))
        #expect(peek(protocols([])) == .malformed("the list of protocols is empty"))
        #expect(peek(anExtension(16, [0, 2, 9, 1])) == .malformed("the name of a protocol is cut short"))
        #expect(peek(anExtension(16, [0, 3, 1, 1])) == .malformed("the list of protocols is cut short"))
        #expect(
            peek(anExtension(16, [0, 2, 1, 1, 0]))
                == .malformed("the list of protocols is followed by bytes that are not its own"))
    }

    @Test(
        arguments: [
            ([0x0304, 0x0303], UInt16(0x0304)), ([0x0303, 0x0304], 0x0304), ([0x0303], 0x0303),
            ([0x0301, 0x0302], 0x0302), ([0x3A3A, 0x0304, 0x0303], 0x0304), ([0xFAFA, 0x0303], 0x0303),
            // a draft, DTLS, and nothing at all
            ([0x7F1C, 0x0303], 0x0303), ([0xFEFD, 0x0302], 0x0302), ([0xAAAA], 0x0303),
        ] as [([UInt16], UInt16)])
    func offersVersions(_ offered: [UInt16], _ highest: UInt16) {
        #expect(peek(versions(offered)) == hello(highest: highest))
    }

    @Test func offersVersionsThatDoNotFit() {
        #expect(peek(versions([])) == .malformed("the list of versions is empty"))
        #expect(peek(anExtension(43, [3, 3, 4, 3])) == .malformed("the list of versions is cut short"))
        #expect(peek(anExtension(43, [5, 3, 4])) == .malformed("the list of versions is cut short"))
        #expect(
            peek(anExtension(43, [2, 3, 4, 3]))
                == .malformed("the list of versions is followed by bytes that are not its own"))
    }
}
