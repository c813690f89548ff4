import Formats

/// Parses `Retry-After` (RFC 9110 §10.2.3).
public enum RetryAfter {
    /// Returns the time to wait, in milliseconds.
    /// - Parameters:
    ///   - value: the field's value, seconds or a date.
    ///   - now: seconds since 1970.
    ///   - cap: the longest wait in milliseconds; longer ones are cut.
    /// - Returns: nil if the value is invalid; 0 for a past date.
    public static func delay(_ value: some StringProtocol, now: Int, cap: Int) -> Int? {
        let text = String(value)
        if !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) {
            guard let seconds = Int(text) else { return cap }
            let (milliseconds, overflows) = seconds.multipliedReportingOverflow(by: 1000)
            return overflows ? cap : min(milliseconds, cap)
        }
        guard let date = CalendarTime.seconds(ofHTTP: text, now: now) else { return nil }
        return min(max(0, date - now) * 1000, cap)
    }
}
