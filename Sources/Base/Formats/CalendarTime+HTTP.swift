extension CalendarTime {
    /// Parses an HTTP date (RFC 9110 §5.6.7), in the current form and the two obsolete ones.
    /// - Parameter now: seconds since 1970, for years with two digits.
    /// - Returns: seconds since 1970; nil if the text is no date, or a date before 1970.
    public static func seconds(ofHTTP text: some StringProtocol, now: Int) -> Int? {
        let parts = String(text).utf8.split { $0 == ASCII.space || $0 == 0x2C || $0 == 0x2D }.map { Array($0) }
        switch parts.count {
        // Sun, 06 Nov 1994 08:49:37 GMT
        case 6 where parts[3].count == 4:
            return seconds(day: parts[1], month: parts[2], year: number(parts[3], 4), clock: parts[4], zone: parts[5])
        // Sunday, 06-Nov-94 08:49:37 GMT
        case 6:
            let year = number(parts[3], 2).map { century(of: $0, now: now) }
            return seconds(day: parts[1], month: parts[2], year: year, clock: parts[4], zone: parts[5])
        // Sun Nov  6 08:49:37 1994
        case 5:
            return seconds(
                day: parts[2], month: parts[1], year: number(parts[4], 4), clock: parts[3], zone: Array("GMT".utf8))
        default: return nil
        }
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Reads a year of two digits. One that seems more than fifty years ahead belongs to the century before.
    private static func century(of year: Int, now: Int) -> Int {
        let this = 1970 + now / 31_556_952
        let candidate = this / 100 * 100 + year
        return candidate > this + 50 ? candidate - 100 : candidate
    }

    private static func number(_ digits: [UInt8], _ counts: Int...) -> Int? {
        guard counts.contains(digits.count), digits.allSatisfy(ASCII.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func seconds(day: [UInt8], month: [UInt8], year: Int?, clock: [UInt8], zone: [UInt8]) -> Int? {
        let name = ASCII.lowercased(String(decoding: month, as: UTF8.self))
        let times = clock.split(separator: ASCII.colon, omittingEmptySubsequences: false).map { number(Array($0), 2) }
        guard let year, let day = number(day, 1, 2), let month = months.firstIndex(of: name),
            String(decoding: zone, as: UTF8.self) == "GMT", times.count == 3, let hour = times[0],
            let minute = times[1], let second = times[2], hour < 24, minute < 60, second <= 60
        else { return nil }
        return seconds(year, month + 1, day, hour * 3600 + minute * 60 + second)
    }

    /// - Parameters:
    ///   - month: counted from 1.
    ///   - second: of the day.
    /// - Returns: seconds since 1970; nil if there is no such day.
    static func seconds(_ year: Int, _ month: Int, _ day: Int, _ second: Int) -> Int? {
        guard year >= 1970, (1...12).contains(month) else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...lengths[month - 1]).contains(day) else { return nil }
        let before = year - 1
        let leaps = (before / 4 - before / 100 + before / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400)
        let days = (year - 1970) * 365 + leaps + lengths[..<(month - 1)].reduce(0, +) + day - 1
        return days * 86400 + second
    }
}
