import Declaration
import Formats
import Testing

@testable import Configuration

@Suite struct UnitTests {
    @Test(arguments: [
        ("250ms", 250), ("5s", 5000), ("10m", 600_000), ("2h", 7_200_000), ("0s", 0), ("007s", 7000),
    ])
    func readsTimes(_ text: String, _ milliseconds: Int) {
        #expect(Units.read(text, Units.times) == .value(milliseconds))
    }

    @Test(arguments: [
        ("256B", 256), ("64KiB", 65_536), ("1MiB", 1 << 20), ("2GiB", 2 << 30), ("10KB", 10_000), ("10MB", 10_000_000),
        ("1GB", 1_000_000_000),
    ])
    func readsSizes(_ text: String, _ bytes: Int) { #expect(Units.read(text, Units.sizes) == .value(bytes)) }

    @Test func refusesTheRest() {
        for text in ["", "s", "-5s", "5 s", "1.5s", "5S", "5sec", "5d", "5KiB", "٥s", "+5s"] {
            #expect(Units.read(text, Units.times) == .malformed, "\(text)")
        }
        #expect(Units.read("5", Units.times) == .bare)
        #expect(Units.read("9223372036854775807h", Units.times) == .tooLarge)
        #expect(Units.read("99999999999999999999s", Units.times) == .tooLarge)
        #expect(Units.read("5kb", Units.sizes) == .malformed)
    }

    @Test func spellsExactly() {
        #expect(Units.duration(86_400_000) == "24h" && Units.duration(90_000) == "90s" && Units.duration(1) == "1ms")
        #expect(Units.size(0) == "0B" && Units.size(1536) == "1536B" && Units.size(64 << 10) == "64KiB")
    }

    @Test(arguments: [
        ("wehn", "when"), ("When", "when"), ("header-fields", "header_fields"), ("tree", nil), ("xyz", nil), ("", nil),
        ("interceptor", "interceptors"), ("hsot", "host"),
    ])
    func suggestsWhatIsNear(_ text: String, _ name: String?) {
        let known = ["when", "header_fields", "interceptors", "host", "port", "path"]
        #expect(Nearest.name(to: text, among: known) == name)
    }
}
