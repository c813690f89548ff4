extension CalendarTime {
    /// Parses a time in UTC (RFC 3339), as AM and others write it: `2026-11-21T09:25:00.123Z`. Fractions of a second are
    /// ignored.
    /// - Returns: seconds since 1970; nil if the text is no such time, or a time before 1970.
    public static func seconds(ofInternet text: some StringProtocol) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.last == 0x5A || bytes.last == 0x7A, bytes[4] == 0x2D, bytes[7] == 0x2D,
            bytes[10] == 0x54 || bytes[10] == 0x74, bytes[13] == ASCII.colon, bytes[16] == ASCII.colon
        else { return nil }
        let fraction = bytes[19..<(bytes.count - 1)]
        guard fraction.isEmpty || fraction.count > 1 && fraction.first == 0x2E,
            fraction.dropFirst().allSatisfy(ASCII.isDigit)
        else { return nil }
        let numbers = [0..<4, 5..<7, 8..<10, 11..<13, 14..<16, 17..<19].map { range -> Int in
            bytes[range].allSatisfy(ASCII.isDigit) ? bytes[range].reduce(0) { $0 * 10 + Int($1 - 0x30) } : -1
        }
        guard numbers.allSatisfy({ $0 >= 0 }), numbers[3] < 24, numbers[4] < 60, numbers[5] <= 60 else { return nil }
        return seconds(numbers[0], numbers[1], numbers[2], numbers[3] * 3600 + numbers[4] * 60 + numbers[5])
    }
}
