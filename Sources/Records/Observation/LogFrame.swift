internal import Formats

/// The framing of log records.
public enum LogFrame: Sendable {
    /// One line for each record.
    case lines
    /// Lines of `NAME=value` with an empty line behind them (systemd's Journal Export Format). No value contains a line
    /// end.
    case entries

    /// The number of whole records.
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

    /// The end of the first record; nil if it is incomplete.
    public func end(in bytes: ArraySlice<UInt8>) -> Int? {
        var index = bytes.startIndex
        while let line = bytes[index...].firstIndex(of: 0x0A) {
            if self == .lines { return line + 1 }
            if line + 1 < bytes.endIndex, bytes[line + 1] == 0x0A { return line + 2 }
            index = line + 1
        }
        return nil
    }

    /// Whether a record ends at this place.
    public func ends(_ bytes: [UInt8], at place: Int) -> Bool {
        guard place > 0 else { return true }
        guard place <= bytes.count, bytes[place - 1] == 0x0A else { return false }
        return self == .lines || place > 1 && bytes[place - 2] == 0x0A
    }
}
