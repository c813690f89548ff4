import TLSEngine
import Testing

struct LibraryTests {
    @Test("The library names itself")
    func version() { #expect(Library.version.hasPrefix("OpenSSL 3")) }
}
