import Declaration

/// The configuration syntax of a distribution of times.
enum DistributionShape {
    private static let time = Shape.duration(0...Distribution.longest)

    static let object = ObjectShape(
        "distribution",
        [
            Key("from", time, "The minimum of a uniform distribution."),
            Key("to", time, "The maximum of a uniform distribution."),
            Key("mean", time, "The mean of a normal distribution."),
            Key("deviation", time, "The standard deviation of a normal distribution."),
            Key("median", time, "The median of a lognormal distribution, as of response times."),
            Key("p95", time, "The 95th percentile of a lognormal distribution."),
            Key(
                "percentiles", .map(percent, time),
                "Measured percentiles: { 50: 40ms, 99: 300ms, 100: 2s }. Times are drawn between them."),
        ])

    private static let percent = TextFormat("a number from 0 to 100, such as 99.9", isPublic: true) { text in
        Double(text).map { (0...100).contains($0) } ?? false
    }

    private static let kinds = [["from", "to"], ["mean", "deviation"], ["median", "p95"], ["percentiles"]]

    /// - Returns: nil if the value is invalid. The reader has recorded the finding.
    static func read(_ value: Decoded, _ reader: RuleReader) -> Distribution? {
        guard let fields = value.fields else { return nil }
        guard let kind = kinds.first(where: { Set($0) == Set(fields.written) }) else {
            let written = kinds.map { $0.joined(separator: " and ") }.joined(separator: "; ")
            reader.findings.error(value.position, "a distribution takes one of: \(written)")
            return nil
        }
        let numbers = kind.compactMap { fields.number($0) }
        switch kind[0] {
        case "percentiles":
            let points = (fields.fields("percentiles")?.all ?? []).compactMap { field in
                Double(field.name).flatMap { percent in
                    field.value.number.map { Distribution.Percentile(percent, $0) }
                }
            }
            guard !points.isEmpty else {
                if fields.fields("percentiles")?.written.isEmpty == true {
                    reader.findings.error(value.position, "percentiles has no entry; write one, such as 50: 40ms")
                }
                return nil
            }
            let sorted = points.sorted { $0.percent < $1.percent }
            guard zip(sorted, sorted.dropFirst()).allSatisfy({ $0.value <= $1.value }) else {
                reader.findings.error(value.position, "a higher percentile has no shorter time than a lower one")
                return nil
            }
            return .percentiles(sorted)
        case "mean": return numbers.count == 2 ? .normal(mean: numbers[0], deviation: numbers[1]) : nil
        default:
            guard numbers.count == 2 else { return nil }
            guard numbers[0] <= numbers[1] else {
                reader.findings.error(value.position, "\(kind[1]) is less than \(kind[0])")
                return nil
            }
            return kind[0] == "from"
                ? .uniform(numbers[0]...numbers[1]) : .lognormal(median: numbers[0], p95: numbers[1])
        }
    }
}
