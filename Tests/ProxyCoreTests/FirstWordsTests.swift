import HTTPCodec
import Testing

@testable import ProxyCore

@Suite("What a server says in a tunnel before its client")
struct FirstWordsTests {
    private static let words: [(pieces: [[UInt8]], mayBe: Bool)] = [
        ([[0, 0, 0, 4, 0, 0, 0, 0, 0]], true), ([[0], [0, 18], [4, 0, 0, 0, 0, 0]], true),
        ([[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]], true),
        // an acknowledgement, another kind, a stream's, no multiple of a setting, more than any server has
        ([[0, 0, 0, 4, 1]], false), ([[0, 0, 0, 6]], false), ([[0, 0, 0, 4, 0, 0, 0, 0, 1]], false),
        ([[0, 0, 7]], false), ([[0, 0x10]], false),
        // words of other protocols
        ([Array("$ ".utf8)], false), ([Array(">".utf8)], false), ([[0xFF, 0xFD, 0x18]], false),
        ([Array("abc\u{4}".utf8)], false), ([[0x4A, 0, 0, 0, 0x0A]], false),
    ]

    @Test("The SETTINGS of HTTP/2 are waited for; what is none goes on at once", arguments: words)
    func hears(_ pieces: [[UInt8]], _ mayBe: Bool) {
        var tunnel = Tunnel(target: Origin(scheme: .http, host: "a.test", port: 80))
        #expect(pieces.map { tunnel.hears($0.span) }.last == mayBe)
        #expect(tunnel.heard == pieces.flatMap(\.self))
    }
}
