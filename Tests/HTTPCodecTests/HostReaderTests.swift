import Formats
import TestInputs
import Testing

@testable import HTTPCodec

/// What the quick look at a name finds, the closer one finds too.
struct HostReaderTests {
    @Test("Any names, anywhere in a buffer", arguments: UInt64(1)...20)
    func anyName(_ seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let alphabet = Array("abZ09-..:_/@%\u{E9}".utf8)
        var plain = 0
        for _ in 0..<2_000 {
            // dots are rare in some, so that labels are long
            let most = random.next() % 3 == 0 ? alphabet.count : 6
            let name = (0..<Int(random.next() % 70)).map { _ in alphabet[Int(random.next() % UInt64(most))] }
            let before = [UInt8](repeating: 0x2E, count: Int(random.next() % 3))
            let behind = Array((random.next() % 2 == 0 ? ".." : ":8080/path").utf8)
            let bytes = before + name + behind
            let (lower, upper) = (before.count, before.count + name.count)
            // what stands behind it is for whoever asks to judge
            guard let end = HostReader.plainEnd(bytes.span, lower, upper), end == upper || bytes[end] == ASCII.colon
            else { continue }
            plain += 1
            let found = try HostReader.name(bytes.span, lower, upper)
            let host = HostReader.plainHost(bytes.span, lower, end)
            #expect(found.end == end && found.host == host)
        }
        #expect(plain > 100)
    }

    @Test(arguments: [
        "a", "a.test", "a.test.", "shop.example.com", "192.0.2.1", "A-1.b", String(repeating: "a", count: 63),
    ])
    func usual(_ name: String) {
        let bytes = Array("//\(name):8080/path".utf8)
        let end = HostReader.plainEnd(bytes.span, 2, bytes.count)
        #expect(end == 2 + name.utf8.count)
    }

    @Test(arguments: [
        ".", "..", ".a", "a..b", "abcdefg..h", "abcdefgh..i", "", String(repeating: "a", count: 64),
    ])
    func unusual(_ name: String) {
        let bytes = Array("//\(name):8080/path".utf8)
        let end = HostReader.plainEnd(bytes.span, 2, bytes.count)
        #expect(end == nil)
    }
}
