/// Writes into space that was reserved for all pieces at once. Each function checks the space and traps if it is too small;
/// nothing is written beyond it.
extension OutputSpan<UInt8> {
    @inlinable @inline(__always)
    public mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append($0) }
    }

    /// Appends ASCII text that is part of the program.
    @inlinable @inline(__always)
    public mutating func append(literal text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inlinable @inline(__always)
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        withUnsafeMutableBufferPointer { room, count in
            precondition(bytes.count <= room.count &- count)
            guard let source = bytes.baseAddress, let start = room.baseAddress else { return }
            UnsafeMutableRawPointer(start + count).copyMemory(from: source, byteCount: bytes.count)
            count &+= bytes.count
        }
    }

    public mutating func append(decimal value: UInt64) {
        // no number of 64 bits has more than twenty
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20, value >= bound {
            digits &+= 1
            bound &*= 10
        }
        withUnsafeMutableBufferPointer { room, count in
            precondition(digits <= room.count &- count)
            var place = count &+ digits
            var left = value
            repeat {
                place &-= 1
                room.initializeElement(at: place, to: 0x30 &+ UInt8(truncatingIfNeeded: left % 10))
                left /= 10
            } while place > count
            count &+= digits
        }
    }

    /// In small letters, as `String(_:radix:)` writes it: sixteen digits at most.
    public mutating func append(hexadecimal value: UInt64) {
        var shift = value == 0 ? 0 : (63 &- value.leadingZeroBitCount) & ~3
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(shift)) & 15
            append(digit < 10 ? 0x30 &+ digit : 0x57 &+ digit)
            shift -= 4
        }
    }
}
