/// A distribution of delays in milliseconds. Each use draws a new value.
public enum Distribution: Equatable, Sendable {
    case fixed(Int)
    case uniform(ClosedRange<Int>)
    case normal(mean: Int, deviation: Int)
    /// Typical of services: about the median for most, `p95` or more for one of twenty, with a long tail.
    case lognormal(median: Int, p95: Int)
    /// Measured percentiles, interpolated linearly. Below the first percentile the value is the first one, above the last it is
    /// the last.
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

    /// The upper bound of all distributions, in milliseconds.
    public static let longest = 3_600_000

    /// - Parameter bound: the upper bound of the result.
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

    /// The 95th percentile of the standard normal distribution.
    private static let deviationsOfP95 = 1.6448536269514722

    /// Draws from an approximate standard normal distribution: the sum of twelve uniform values, which lies within ±6.
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

/// The natural exponential and logarithm, accurate enough for delays.
enum Exponential {
    private static let ln2 = 0.693147180559945309

    static func power(_ exponent: Double) -> Double {
        // 2 to an integer power, times a remainder whose series converges quickly
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

    /// - Parameter value: greater than 0.
    static func logarithm(of value: Double) -> Double {
        guard value > 0, value.isFinite else { return 0 }
        // the significand lies between 1 and 2, where the series of the inverse hyperbolic tangent converges quickly
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
