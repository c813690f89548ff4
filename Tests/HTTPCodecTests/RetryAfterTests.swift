import HTTPCodec
import Testing

struct RetryAfterTests {
    /// Sat, 21 Nov 2026 09:25:00 GMT.
    private static let now = 1_795_253_100

    @Test(
        "Seconds and dates, up to the cap",
        arguments: [
            ("0", 0), ("1", 1000), ("120", 120_000), ("999999", 3_600_000), ("99999999999999999999999", 3_600_000),
            ("9223372036854775807", 3_600_000), ("Sat, 21 Nov 2026 09:25:10 GMT", 10_000),
            ("Sat, 21 Nov 2026 09:24:59 GMT", 0), ("Wed, 01 Jan 2031 00:00:00 GMT", 3_600_000),
            ("Saturday, 21-Nov-26 09:26:00 GMT", 60_000), ("Sat Nov 21 09:25:02 2026", 2_000),
            ("Sun Nov  6 08:49:37 1994", 0),
        ])
    func delays(_ value: String, _ delay: Int) {
        #expect(RetryAfter.delay(value, now: Self.now, cap: 3_600_000) == delay)
    }

    @Test(
        "What is neither says nothing",
        arguments: [
            "", " ", "-5", "+5", "5.5", "soon", "5 s", "0x10", "Sat, 21 Nov 2026 09:25:10",
            "Sat, 31 Nov 2026 09:25:10 GMT",
            "Sat, 21 Nov 2026 25:25:10 GMT", "Sat, 21 Nov 2026 09:60:10 GMT", "Sat, 21 Nov 2026 09:25:10 CET",
            "Sat, 21 Foo 2026 09:25:10 GMT", "Sun, 29 Feb 2026 00:00:00 GMT", "Sat, 00 Nov 2026 09:25:10 GMT",
            "Sat, 21 Nov 26 9:25 GMT", "Sat, 21 Nov 1826 09:25:10 GMT", "\u{661}",
        ])
    func nothing(_ value: String) {
        #expect(RetryAfter.delay(value, now: Self.now, cap: 3_600_000) == nil)
    }
}
