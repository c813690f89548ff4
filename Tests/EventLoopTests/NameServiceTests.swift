import Glibc
import Testing

@testable import EventLoop

@Suite("The hosts file")
struct NameServiceTests {
    private func addresses(of host: String, in text: String) throws -> [String] {
        let file = try #require(tmpfile())
        defer { fclose(file) }
        fputs(text, file)
        rewind(file)
        return NameService.addresses(of: host, inHosts: file).map(\.host)
    }

    private let hosts = """
        # a comment with api.test
        127.0.0.1 localhost
        192.0.2.1\tapi.test  API2.test # old.test
        2001:db8::1 api.test\r
           192.0.2.2 indented.test
        192.0.2.1 api.test
        nonsense api.test
        fe80::1%lo scoped.test
        192.0.2.9
        192.0.2.3 last.test
        """

    @Test func namesAndAliases() throws {
        #expect(try addresses(of: "api.test", in: hosts) == ["192.0.2.1", "2001:db8::1"])
        #expect(try addresses(of: "Api2.TEST.", in: hosts) == ["192.0.2.1"])
        #expect(try addresses(of: "indented.test", in: hosts) == ["192.0.2.2"])
        #expect(try addresses(of: "last.test", in: hosts) == ["192.0.2.3"])
    }

    @Test(arguments: ["old.test", "pi.test", "192.0.2.9", "scoped.test", "#", ""])
    func whatIsNotThere(_ host: String) throws { #expect(try addresses(of: host, in: hosts).isEmpty) }

    @Test func longLines() throws {
        let text = "192.0.2.1 " + String(repeating: "x", count: 9000) + " far.test\n192.0.2.2 near.test\n"
        #expect(try addresses(of: "near.test", in: text) == ["192.0.2.2"])
    }
}
