import Formats
import Testing

struct CalendarTimeTests {
    @Test("A date that is written is read again")
    func dates() {
        for seconds in stride(from: 0, through: 8_000_000_000, by: 86_399 * 31) {
            #expect(CalendarTime.seconds(ofHTTP: CalendarTime(seconds).http, now: seconds) == seconds)
        }
        // 29 February is one in 2000 and in 2028, and none in 2100
        #expect(CalendarTime.seconds(ofHTTP: "Tue, 29 Feb 2000 00:00:00 GMT", now: 0) == 951_782_400)
        #expect(CalendarTime.seconds(ofHTTP: "Mon, 29 Feb 2100 00:00:00 GMT", now: 0) == nil)
    }

    @Test("A year of two digits is no more than fifty ahead")
    func centuries() {
        // in November 2026
        let now = 1_795_253_100
        let year2099 = CalendarTime.seconds(ofHTTP: "Tuesday, 01-Dec-76 00:00:00 GMT", now: now)
        #expect(year2099.map { CalendarTime($0).date } == "2076-12-01")
        let past = CalendarTime.seconds(ofHTTP: "Thursday, 01-Dec-77 00:00:00 GMT", now: now)
        #expect(past.map { CalendarTime($0).date } == "1977-12-01")
    }

    @Test("A time in UTC is read as servers write it")
    func internet() {
        for seconds in stride(from: 0, through: 8_000_000_000, by: 86_399 * 31) {
            #expect(CalendarTime.seconds(ofInternet: CalendarTime(seconds).internet) == seconds)
        }
        #expect(CalendarTime.seconds(ofInternet: "1970-01-01T00:01:00.999Z") == 60)
        for text in [
            "", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00+01:00", "1970-13-01T00:00:00Z",
            "1970-02-30T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00.xZ",
            "1970-01-01 00:00:00Z", "19x0-01-01T00:00:00Z", "1969-01-01T00:00:00Z",
        ] { #expect(CalendarTime.seconds(ofInternet: text) == nil, "\(text)") }
    }
}
