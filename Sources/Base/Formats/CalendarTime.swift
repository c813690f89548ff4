/// A calendar date and time in UTC.
public struct CalendarTime: Sendable {
    private let year: Int
    private let month: Int
    private let day: Int
    /// 0 for Sunday.
    private let weekday: Int
    private let second: Int

    /// - Parameter seconds: since 1970.
    public init(_ seconds: Int) {
        let (days, second) = seconds.quotientAndRemainder(dividingBy: 86400)
        self.second = second
        weekday = (days + 4) % 7
        // years start in March, so that the leap day is the last day; eras have 400 years
        let shifted = days + 719_468
        let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// The date: `2026-11-21`.
    public var date: String { "\(year)-\(Self.two(month))-\(Self.two(day))" }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private var clock: String {
        "\(Self.two(second / 3600)):\(Self.two(second / 60 % 60)):\(Self.two(second % 60))"
    }

    /// `2026-11-21T09:25:00Z` (RFC 3339).
    public var internet: String { "\(date)T\(clock)Z" }

    /// `Sat, 21 Nov 2026 09:25:00 GMT` (RFC 9110 §5.6.7).
    public var http: String {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(days[weekday]), \(Self.two(day)) \(months[month - 1]) \(year) \(clock) GMT"
    }
}
