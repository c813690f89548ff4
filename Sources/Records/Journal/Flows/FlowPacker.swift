/// Appends a flow to others. Numbers may come in any order; parts must come in their order, each at most once.
public struct FlowPacker: ~Copyable {
    private var out: [UInt8]
    private let start: Int
    /// The first part whose end is not written yet.
    private var next = 0

    /// - Parameter out: the bytes that the flow is appended to; `finish` returns them.
    public init(behind out: consuming [UInt8] = []) {
        // a second reference would make the next append copy all bytes
        self.out = consume out
        start = self.out.count
        self.out.append(contentsOf: Self.header)
    }

    /// Starts with a copy of another flow, to change its numbers.
    init(behind out: consuming [UInt8], whole flow: PackedFlow) {
        self.out = consume out
        start = self.out.count
        self.out.append(contentsOf: flow.packed)
        next = FlowPart.allCases.count
    }

    private static let header = [UInt8](repeating: 0, count: PackedFlow.partsAt)

    public mutating func set(_ number: FlowNumber, _ value: Int) {
        store(Int64(value), at: PackedFlow.numbersAt + number.rawValue * 8)
    }

    /// Copies the numbers of another flow.
    public mutating func setNumbers(of flow: PackedFlow) {
        let numbers = PackedFlow.numbersAt..<PackedFlow.endsAt
        let place = start
        flow.bytes.withUnsafeBytes { from in
            out.withUnsafeMutableBytes { to in
                UnsafeMutableRawBufferPointer(rebasing: to[(place + numbers.lowerBound)..<(place + numbers.upperBound)])
                    .copyMemory(
                        from: UnsafeRawBufferPointer(
                            rebasing: from[(flow.start + numbers.lowerBound)..<(flow.start + numbers.upperBound)]))
            }
        }
    }

    @inlinable
    public mutating func set(_ part: FlowPart, _ bytes: some Collection<UInt8>) {
        set(part) { $0.append(contentsOf: bytes) }
    }

    public mutating func set(_ part: FlowPart, _ text: String) { set(part, text.utf8) }

    /// Writes a part in place.
    public mutating func set(_ part: FlowPart, _ write: (inout [UInt8]) -> Void) {
        open(part)
        write(&out)
    }

    /// Ends the parts before this one.
    private mutating func open(_ part: FlowPart) {
        precondition(part.rawValue >= next, "parts are written in their order")
        closeParts(before: part.rawValue)
    }

    private mutating func closeParts(before part: Int) {
        guard next < part else { return }
        let end = UInt32(truncatingIfNeeded: out.count - start)
        let (first, last) = (start + PackedFlow.endsAt + next * 4, start + PackedFlow.endsAt + part * 4)
        out.withUnsafeMutableBytes { bytes in
            for place in stride(from: first, to: last, by: 4) {
                bytes.storeBytes(of: end, toByteOffset: place, as: UInt32.self)
            }
        }
        next = part
    }

    private mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at place: Int) {
        out.withUnsafeMutableBytes { $0.storeBytes(of: number, toByteOffset: start + place, as: Number.self) }
    }

    public consuming func finish() -> [UInt8] {
        closeParts(before: FlowPart.allCases.count)
        store(UInt64(out.count - start), at: 0)
        return out
    }
}
