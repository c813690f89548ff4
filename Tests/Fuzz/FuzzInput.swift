/// What the fuzz targets share. They are compiled into one module with the codec's sources, which imports nothing.
/// The first byte of an input seeds the cuts, so that the fuzzer explores splits as well.
struct FuzzInput {
    let bytes: [UInt8]
    private var state: UInt64

    init?(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        guard let start, count > 0 else { return nil }
        let all = UnsafeBufferPointer(start: start, count: count)
        state = UInt64(all[0]) &+ 1
        bytes = Array(all.dropFirst())
    }

    /// The ends of the pieces, in order; the last one is the whole input.
    mutating func cuts() -> [Int] {
        var ends: [Int] = []
        var end = 0
        while end < bytes.count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            end = min(bytes.count, end + 1 + Int(state >> 33) % 23)
            ends.append(end)
        }
        return ends
    }
}

/// Ends the run where a property does not hold; the fuzzer keeps the input.
func require(_ holds: Bool, _ property: StaticString) {
    precondition(holds, "\(property)")
}

/// The fields of a head as text, to compare two heads by.
func fieldText(_ fields: FieldTable) -> [String] {
    fields.slots.map { "\(fields.bytes[$0.name.indices])=\(fields.bytes[$0.value.indices])=\($0.known.rawValue)" }
}

/// The bytes of a head's fields as a proxy would send them on.
func writeFields(_ fields: FieldTable, to out: inout [UInt8]) {
    for slot in fields.slots {
        out += fields.bytes[slot.name.indices]
        out += [ASCII.colon, ASCII.space]
        out += fields.bytes[slot.value.indices]
        out += [ASCII.cr, ASCII.lf]
    }
    out += [ASCII.cr, ASCII.lf]
}
