import Formats

/// Parses `Retry-After` (RFC 9110 §10.2.3).
public enum RetryAfter {
    /// How long to wait, in milliseconds.
    /// - Parameters:
    ///   - value: of the field: seconds, or a date.
    ///   - now: seconds since 1970.
    ///   - cap: the most to wait, in milliseconds; whoever asks for more gets this.
    /// - Returns: nil for what is neither; 0 for a date that has passed.
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
