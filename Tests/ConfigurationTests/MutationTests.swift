import Configuration
import Testing

/// Whatever happens to a valid document, loading it ends with a snapshot or with faults that stand inside the file.
@Suite struct MutationTests {
    /// SplitMix64: the same changes in every run.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    private static let pieces: [String] = [
        "*", "&a ", "*a", "${", "${env.X}", "~", "~(", "[", "]", "{", "}", ": ", "- ", "\n", "\t", "\"", "'", "#", "|",
        ">", "?",
        "!!int ", "!x ", "%", "@", "`", "null", "true", "-1", "99999999999999999999", "é", "\u{1F600}", "\u{0}",
        "\u{85}",
        "\r", "version: 1\n", "---\n", "...\n", "<<: ", "\u{FEFF}", "\u{E000}", "  ",
    ]

    @Test(arguments: 0..<8) func neverCrashes(_ seed: Int) {
        var random = Generator(state: UInt64(seed))
        let valid = Array(ValidDocumentTests.whole.unicodeScalars)
        for _ in 0..<100 {
            var scalars = valid
            for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&scalars, &random) }
            let text = String(String.UnicodeScalarView(scalars))
            guard case .failure(let faults) = load(text, environment: ["X": "x"]) else { continue }
            #expect(faults.diagnostics.contains { $0.severity == .error })
            let lines = scalars.count { "\n\r\u{85}\u{2028}\u{2029}".unicodeScalars.contains($0) } + 1
            for fault in faults.diagnostics {
                #expect((1...lines + 1).contains(fault.line) && fault.column >= 1, "\(fault)")
            }
        }
    }

    private func mutate(_ scalars: inout [Unicode.Scalar], _ random: inout Generator) {
        let place = Int.random(in: 0..<max(scalars.count, 1), using: &random)
        let end = min(scalars.count, place + Int.random(in: 1...20, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0: scalars.removeSubrange(place..<end)
        case 1:
            scalars.insert(contentsOf: Self.pieces.randomElement(using: &random)?.unicodeScalars ?? .init(), at: place)
        case 2:
            scalars.insert(
                contentsOf: Array(scalars[place..<end]), at: Int.random(in: 0...scalars.count, using: &random))
        case 3:
            scalars.replaceSubrange(
                place..<end, with: Self.pieces.randomElement(using: &random)?.unicodeScalars ?? .init())
        default: scalars.removeSubrange(place...)
        }
        if scalars.isEmpty { scalars = ["x"] }
    }
}
