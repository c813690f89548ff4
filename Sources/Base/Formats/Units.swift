/// Numbers with units, as in configurations and commands: `250ms`, `64KiB`.
public enum Units {
    /// Units of time in milliseconds, from small to large.
    public static let times: [(name: String, factor: Int)] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)]
    /// Units of size in bytes.
    public static let sizes: [(name: String, factor: Int)] = [
        ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("KB", 1000), ("MB", 1_000_000),
        ("GB", 1_000_000_000),
    ]

    public enum Reading: Equatable {
        case value(Int)
        /// A number without a unit, which is ambiguous.
        case bare
        case malformed
        case tooLarge
    }

    /// Parses digits followed directly by a unit.
    public static func read(_ text: String, _ units: [(name: String, factor: Int)]) -> Reading {
        let digits = text.utf8.prefix(while: ASCII.isDigit)
        guard !digits.isEmpty else { return .malformed }
        let unit = String(text.dropFirst(digits.count))
        guard !unit.isEmpty else { return .bare }
        guard let factor = units.first(where: { $0.name == unit })?.factor else { return .malformed }
        guard let number = Int(String(decoding: Array(digits), as: UTF8.self)) else { return .tooLarge }
        let (value, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? .tooLarge : .value(value)
    }

    /// The shortest exact spelling: 60,000 milliseconds are `1m`.
    public static func spell(_ value: Int, _ units: [(name: String, factor: Int)]) -> String {
        let exact = units.filter { value % $0.factor == 0 && value >= $0.factor }
        guard let best = exact.max(by: { $0.factor < $1.factor }) else { return "\(value)\(units[0].name)" }
        return "\(value / best.factor)\(best.name)"
    }

    public static func duration(_ milliseconds: Int) -> String { spell(milliseconds, times) }
    /// Spells a size with powers of two only, which limits are made of.
    public static func size(_ bytes: Int) -> String { spell(bytes, Array(sizes.prefix(4))) }
}
