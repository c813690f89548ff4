/// What all fuzz targets share: it names nothing of the modules that they are compiled with.
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
