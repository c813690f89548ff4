/// Splitmix64: the same numbers from the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// True in that many of a thousand cases.
    mutating func chance(_ perMille: Int) -> Bool { below(1000) < perMille }

    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[below(choices.count)] }
}

/// In what pieces bytes reach the connection.
enum Delivery: CustomStringConvertible, Sendable {
    case whole, byteByByte
    case random(UInt64)

    /// What every conversation has to survive.
    static let all: [Delivery] = [.whole, .byteByByte, .random(1), .random(2), .random(3)]

    var description: String {
        switch self {
        case .whole: "whole"
        case .byteByByte: "byte by byte"
        case .random(let seed): "random splits, seed \(seed)"
        }
    }
}

/// Cuts bytes into pieces.
struct Splitter {
    let delivery: Delivery
    private var generator: SeededGenerator

    init(_ delivery: Delivery) {
        self.delivery = delivery
        if case .random(let seed) = delivery {
            generator = SeededGenerator(seed: seed)
        } else {
            generator = SeededGenerator(seed: 0)
        }
    }

    mutating func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        switch delivery {
        case .whole: return bytes.isEmpty ? [] : [bytes]
        case .byteByByte: return bytes.map { [$0] }
        case .random:
            var pieces: [[UInt8]] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + 1 + generator.below(generator.chance(500) ? 4 : 60))
                pieces.append(Array(bytes[start..<end]))
                start = end
            }
            return pieces
        }
    }
}
