import Formats

/// The field `traceparent` (W3C Trace Context, level 1): the position of a request in a trace.
public struct TraceParent: Equatable, Sendable {
    /// The id of the trace; never all zeros.
    public var trace: TraceID
    /// The id of the parent span; never 0.
    public var parent: UInt64
    public var flags: UInt8

    /// Whether the trace is recorded.
    public var isSampled: Bool { flags & 1 != 0 }

    public static let fieldName = "traceparent"
    public static let stateName = "tracestate"

    public init(trace: TraceID, parent: UInt64, isSampled: Bool) {
        self.trace = trace
        self.parent = parent
        flags = isSampled ? 1 : 0
    }

    /// Returns nil if the value breaks a rule; then a new trace starts.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8.prefix(Self.longest + 1))
        guard bytes.count >= Self.length, bytes.count <= Self.longest, bytes[2] == Self.dash, bytes[35] == Self.dash,
            bytes[52] == Self.dash,
            let version = Self.number(bytes[0..<2]), let high = Self.number(bytes[3..<19]),
            let low = Self.number(bytes[19..<35]), let parent = Self.number(bytes[36..<52]),
            let flags = Self.number(bytes[53..<55])
        else { return nil }
        // 255 is no version; the first has nothing behind the flags, and later ones put a dash before what they have there
        guard version != 0xFF, bytes.count == Self.length || version != 0 && bytes[Self.length] == Self.dash
        else { return nil }
        guard high != 0 || low != 0, parent != 0 else { return nil }
        trace = TraceID(high: high, low: low)
        self.parent = parent
        // this version defines no other bits
        self.flags = UInt8(truncatingIfNeeded: flags) & 1
    }

    private static let dash: UInt8 = 0x2D
    private static let length = 55
    private static let longest = 512

    /// Small letters alone.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for byte in digits {
            guard let value = ASCII.hexValue(byte), ASCII.lower(byte) == byte else { return nil }
            number = number << 4 | UInt64(value)
        }
        return number
    }

    public var description: String { "00-\(trace)-\(TraceID.text(parent))-0\(flags & 1)" }
}

/// Sixteen bytes that name a trace.
public struct TraceID: Hashable, Sendable, CustomStringConvertible {
    public var high: UInt64
    public var low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new random id.
    public static func random() -> TraceID {
        TraceID(high: .random(in: .min ... .max), low: .random(in: 1 ... .max))
    }

    public var description: String { Self.text(high) + Self.text(low) }

    /// Sixteen digits.
    public static func text(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
