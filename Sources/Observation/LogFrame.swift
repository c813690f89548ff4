internal import Formats

/// Where a record of the log ends.
public enum LogFrame: Sendable {
    /// One line each.
    case lines
    /// Lines of `NAME=value` and an empty one behind them, as the journal has them (systemd's Journal Export Format). No value
    /// holds the end of a line.
    case entries

    /// How many whole records there are.
    public func records(in bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBufferPointer { bytes in
            let bytes = bytes.span
            var count = 0
            var index = 0
            while true {
                index = bytes.first(index, bytes.count) { $0.equal(to: 0x0A) }
                guard index < bytes.count else { return count }
                index += 1
                if self == .lines {
                    count += 1
                } else if index < bytes.count, bytes[index] == 0x0A {
                    count += 1
                }
            }
        }
    }

    /// Where the first record is over; nil where there is no whole one.
    public func end(in bytes: ArraySlice<UInt8>) -> Int? {
        var index = bytes.startIndex
        while let line = bytes[index...].firstIndex(of: 0x0A) {
            if self == .lines { return line + 1 }
            if line + 1 < bytes.endIndex, bytes[line + 1] == 0x0A { return line + 2 }
            index = line + 1
        }
        return nil
    }

    /// Whether a record is over there.
    public func ends(_ bytes: [UInt8], at place: Int) -> Bool {
        guard place > 0 else { return true }
        guard place <= bytes.count, bytes[place - 1] == 0x0A else { return false }
        return self == .lines || place > 1 && bytes[place - 2] == 0x0A
    }
}
