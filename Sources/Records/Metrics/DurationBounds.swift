/// The bounds of a histogram's buckets, in milliseconds.
struct DurationBounds: Sendable {
    let milliseconds: [Int]

    /// Bounds that reach from a request over loopback to a step-up that a person answers.
    static let exchange = DurationBounds(
        milliseconds: [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000])
    static let lag = DurationBounds(milliseconds: [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000])

    /// The columns of a histogram in a row: one for each bound, one for larger values, and the sum.
    var width: Int { milliseconds.count + 2 }
    var sum: Int { milliseconds.count + 1 }

    /// The column of the first bound that is not exceeded.
    @inline(__always)
    func column(of value: Int) -> Int {
        var column = 0
        while column < milliseconds.count, value > milliseconds[column] { column &+= 1 }
        return column
    }
}
