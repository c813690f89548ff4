/// How long something takes that is made to take longer, in milliseconds: drawn anew each time.
public enum Distribution: Equatable, Sendable {
    case fixed(Int)
    case uniform(ClosedRange<Int>)
    case normal(mean: Int, deviation: Int)
    /// As services answer: most in about the median, one of twenty in `p95` or later, a few much later.
    case lognormal(median: Int, p95: Int)
    /// What was measured: one of a hundred takes no longer than the value of 1, half of them that of 50. Between two the
    /// value lies between theirs; below the first it is the first, above the last the last.
    case percentiles([Percentile])

    public struct Percentile: Equatable, Sendable {
        /// From 0 to 100.
        public var percent: Double
        public var value: Int

        public init(_ percent: Double, _ value: Int) {
            self.percent = percent
            self.value = value
        }
    }

    /// What no distribution exceeds, in milliseconds.
    public static let longest = 3_600_000

    /// - Parameter bound: the most that may come of it.
    /// - Returns: milliseconds, from 0 to the bound.
    public func draw(_ chance: inout some RandomNumberGenerator, bound: Int = longest) -> Int {
        let drawn: Double
        switch self {
        case .fixed(let value): drawn = Double(value)
        case .uniform(let range): drawn = Double(Int.random(in: range, using: &chance))
        case .normal(let mean, let deviation):
            drawn = Double(mean) + Double(deviation) * Self.standard(&chance)
        case .lognormal(let median, let p95):
            guard median > 0, p95 > median else {
                drawn = Double(median)
                break
            }
            let spread = Exponential.logarithm(of: Double(p95) / Double(median)) / Self.deviationsOfP95
            drawn = Double(median) * Exponential.power(spread * Self.standard(&chance))
        case .percentiles(let points): drawn = Self.between(points, Double.random(in: 0..<100, using: &chance))
        }
        return drawn.isNaN ? 0 : Int(min(max(drawn, 0), Double(max(0, bound))))
    }

    /// Of a normal distribution: one of twenty lies further up.
    private static let deviationsOfP95 = 1.6448536269514722

    /// Normally distributed with mean 0 and deviation 1: the sum of twelve, each uniform, is so within what anybody can tell,
    /// and never further out than 6.
    private static func standard(_ chance: inout some RandomNumberGenerator) -> Double {
        var sum = -6.0
        for _ in 0..<12 { sum += Double.random(in: 0..<1, using: &chance) }
        return sum
    }

    private static func between(_ points: [Percentile], _ percent: Double) -> Double {
        let points = points.sorted { $0.percent < $1.percent }
        guard let next = points.firstIndex(where: { $0.percent > percent }) else {
            return Double(points.last?.value ?? 0)
        }
        let above = points[next]
        guard next > 0 else { return Double(above.value) }
        let below = points[next - 1]
        let share = (percent - below.percent) / (above.percent - below.percent)
        return Double(below.value) + share * (Double(above.value) - Double(below.value))
    }
}

/// The natural exponential and its inverse, to more digits than a delay has.
enum Exponential {
    private static let ln2 = 0.693147180559945309

    static func power(_ exponent: Double) -> Double {
        // 2 to a whole number, times what is left, of which a few terms are enough
        let whole = (min(max(exponent, -700), 700) / ln2).rounded()
        let rest = min(max(exponent, -700), 700) - whole * ln2
        var term = 1.0
        var sum = 1.0
        for step in 1...14 {
            term *= rest / Double(step)
            sum += term
        }
        return sum * Double(sign: .plus, exponent: Int(whole), significand: 1)
    }

    /// - Parameter value: above 0.
    static func logarithm(of value: Double) -> Double {
        guard value > 0, value.isFinite else { return 0 }
        // the significand lies between 1 and 2, where the series of the inverse hyperbolic tangent ends soon
        let ratio = (value.significand - 1) / (value.significand + 1)
        var term = ratio
        var sum = 0.0
        for step in 0..<20 {
            sum += term / Double(2 * step + 1)
            term *= ratio * ratio
        }
        return 2 * sum + Double(value.exponent) * ln2
    }
}
