import Glibc
import Testing

@testable import Observation

@Suite("Times of the log")
struct TimestampTests {
    @Test func everySecondHasItsTime() {
        var clock = Timestamp()
        func text(_ second: Int, _ nanosecond: Int) -> String {
            var out: [UInt8] = []
            clock.append(timespec(tv_sec: second, tv_nsec: nanosecond), to: &out)
            return String(decoding: out, as: UTF8.self)
        }
        #expect(text(0, 0) == "1970-01-01T00:00:00.000Z")
        #expect(text(0, 7_999_999) == "1970-01-01T00:00:00.007Z")
        #expect(text(1_800_000_000, 250_000_000) == "2027-01-15T08:00:00.250Z")
        #expect(text(1_800_000_001, 0) == "2027-01-15T08:00:01.000Z")
    }
}
