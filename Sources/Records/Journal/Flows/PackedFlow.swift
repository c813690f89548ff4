/// One flow in one block of memory: numbers, the ends of the parts, then the parts.
public struct PackedFlow: Sendable {
    let bytes: [UInt8]
    /// The offset of the flow in `bytes`.
    let start: Int

    /// The first eight bytes hold the total length.
    static let numbersAt = 8
    static let endsAt = numbersAt + FlowNumber.allCases.count * 8
    static let partsAt = endsAt + FlowPart.allCases.count * 4

    /// - Returns: nil if there is no complete flow at this offset.
    public init?(_ bytes: [UInt8], at start: Int = 0) {
        self.bytes = bytes
        self.start = start
        guard start >= 0, bytes.count - start >= Self.partsAt else { return nil }
        let count = load(at: 0, as: UInt64.self)
        guard count >= Self.partsAt, count <= bytes.count - start else { return nil }
        var last = UInt32(Self.partsAt)
        for part in FlowPart.allCases {
            let end = load(at: Self.endsAt + part.rawValue * 4, as: UInt32.self)
            guard end >= last else { return nil }
            last = end
        }
        guard last == count else { return nil }
    }

    /// The bytes of the flow. Another process can rebuild the flow from them.
    public var packed: ArraySlice<UInt8> { bytes[start..<start + count] }

    /// The flow alone: stored flows share one block of memory with those stored at the same time.
    public var alone: PackedFlow { PackedFlow(Array(packed)) ?? self }

    /// A number that identifies the layout, to detect files with another one.
    public static let layout = FlowNumber.allCases.count << 8 | FlowPart.allCases.count

    /// A copy with another id and parent.
    public func renamed(id: Int, parent: Int) -> PackedFlow {
        var bytes = Array(packed)
        bytes.withUnsafeMutableBytes { bytes in
            for (number, value) in [(FlowNumber.id, id), (.parent, parent)] {
                bytes.storeBytes(of: Int64(value), toByteOffset: Self.numbersAt + number.rawValue * 8, as: Int64.self)
            }
        }
        return PackedFlow(bytes) ?? self
    }

    private func load<Number: FixedWidthInteger & BitwiseCopyable>(at place: Int, as type: Number.Type) -> Number {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start + place, as: type) }
    }

    /// The length in bytes.
    public var count: Int { Int(load(at: 0, as: UInt64.self)) }

    public subscript(_ number: FlowNumber) -> Int {
        Int(load(at: Self.numbersAt + number.rawValue * 8, as: Int64.self))
    }

    public subscript(_ part: FlowPart) -> ArraySlice<UInt8> { bytes[range(of: part)] }

    /// The range of a part in `bytes`.
    func range(of part: FlowPart) -> Range<Int> {
        let end = load(at: Self.endsAt + part.rawValue * 4, as: UInt32.self)
        let begin =
            part.rawValue == 0
            ? UInt32(Self.partsAt) : load(at: Self.endsAt + (part.rawValue - 1) * 4, as: UInt32.self)
        return start + Int(begin)..<start + Int(end)
    }

    public func isEmpty(_ part: FlowPart) -> Bool { areEmpty(part, through: part) }

    /// Whether all parts from the first to the last are empty.
    func areEmpty(_ first: FlowPart, through last: FlowPart) -> Bool {
        range(of: first).lowerBound == range(of: last).upperBound
    }

    /// Nil for an empty part.
    public func text(_ part: FlowPart) -> String? {
        let bytes = self[part]
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    public var id: UInt64 { UInt64(bitPattern: Int64(self[.id])) }
    public var flags: FlowFlags { FlowFlags(rawValue: self[.flags]) }

    /// Milliseconds since the beginning; nil if it did not happen.
    public func time(_ number: FlowNumber) -> Int? {
        let value = self[number]
        return value == 0 ? nil : value - 1
    }

    /// The absolute URL of the request, or the authority of a CONNECT.
    public var url: String {
        let host = text(.authority) ?? ""
        let place = host.utf8.contains(0x3A) ? "[\(host)]" : host
        let isSecure = self[.scheme] == 2
        guard self[.scheme] != 0 else { return "\(place):\(self[.port])" }
        let port = self[.port] == (isSecure ? 443 : 80) ? "" : ":\(self[.port])"
        return "\(isSecure ? "https" : "http")://\(place)\(port)\(text(.target) ?? "/")"
    }
}
