import Testing

@testable import Operation

@Suite("Pieces of the doctor")
struct DoctorTests {
    private let proxy = ProxyAddress(host: "127.0.0.1", port: 3128)

    @Test(arguments: [
        "http://127.0.0.1:3128", "http://127.0.0.1:3128/", "127.0.0.1:3128", "http://u:p@127.0.0.1:3128",
        "http://localhost:3128", "http://LOCALHOST:3128",
    ])
    func leadsThere(_ value: String) { #expect(proxy.isNamed(by: value)) }

    @Test(arguments: [
        "", "http://", "http://127.0.0.1", "http://127.0.0.1:3129", "http://127.0.0.1:3128@evil:80",
        "http://10.0.0.1:3128", "http://127.0.0.1:31280",
    ])
    func leadsElsewhere(_ value: String) { #expect(!proxy.isNamed(by: value)) }

    @Test func loopbackAlsoByItsOtherAddress() {
        #expect(ProxyAddress(host: "::1", port: 3128).isNamed(by: "http://[::1]:3128"))
        #expect(ProxyAddress(host: "::1", port: 3128).isNamed(by: "http://localhost:3128"))
        #expect(!ProxyAddress(host: "10.0.0.1", port: 3128).isNamed(by: "http://localhost:3128"))
    }

    @Test func clocks() {
        #expect(Doctor.clock(1_000_000, 1_000_300, "am").verdict == .ok)
        let ahead = Doctor.clock(1_000_000, 1_000_301, "am")
        #expect(ahead.verdict == .problem && ahead.what.contains("301 s ahead of"))
        #expect(Doctor.clock(1_000_000, 999_000, "am").what.contains("1000 s behind"))
    }

    @Test func lines() {
        #expect(Finding(.ok, "a").line == "ok       a")
        #expect(Finding(.problem, "a", remedy: "b").line == "problem  a  → b")
    }
}
