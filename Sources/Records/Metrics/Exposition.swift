/// Writes metrics in Prometheus's text format (version 0.0.4): first a family, then its samples.
public struct Exposition {
    public enum Kind: String, Sendable { case counter, gauge, histogram }

    public private(set) var text: [UInt8] = []
    private var family = ""

    public init() {}

    public mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        family = name
        text += Array("# HELP \(name) ".utf8)
        for byte in help.utf8 {
            switch byte {
            case 0x5C: text += [0x5C, 0x5C]
            case 0x0A: text += [0x5C, 0x6E]
            default: text.append(byte)
            }
        }
        text += Array("\n# TYPE \(name) \(kind.rawValue)\n".utf8)
    }

    public mutating func sample(_ labels: [(name: String, value: String)] = [], _ value: UInt64) {
        line(family, labels, "\(value)")
    }

    /// - Parameter thousandths: the value in thousandths.
    public mutating func sample(_ labels: [(name: String, value: String)] = [], thousandths: UInt64) {
        line(family, labels, Self.decimal(thousandths))
    }

    /// Writes a family with one sample.
    public mutating func family(_ name: String, _ kind: Kind, _ help: String, _ value: UInt64) {
        begin(name, kind, help)
        sample([], value)
    }

    /// Writes the samples of a histogram.
    /// - Parameters:
    ///   - bounds: in milliseconds.
    ///   - values: one for each bound, one for larger values, and the sum in milliseconds.
    mutating func histogram(_ labels: [(name: String, value: String)], _ bounds: DurationBounds, _ values: [UInt64]) {
        guard values.count == bounds.width else { return }
        var total: UInt64 = 0
        for (index, bound) in bounds.milliseconds.enumerated() {
            total &+= values[index]
            line(family + "_bucket", labels + [("le", Self.decimal(UInt64(bound)))], "\(total)")
        }
        total &+= values[bounds.milliseconds.count]
        line(family + "_bucket", labels + [("le", "+Inf")], "\(total)")
        line(family + "_sum", labels, Self.decimal(values[bounds.sum]))
        line(family + "_count", labels, "\(total)")
    }

    private mutating func line(_ name: String, _ labels: [(name: String, value: String)], _ value: String) {
        text += Array(name.utf8)
        if !labels.isEmpty {
            text.append(0x7B)
            for (index, label) in labels.enumerated() {
                if index > 0 { text.append(0x2C) }
                text += Array("\(label.name)=\"".utf8)
                escape(label.value)
                text.append(0x22)
            }
            text.append(0x7D)
        }
        text += Array(" \(value)\n".utf8)
    }

    private mutating func escape(_ value: String) {
        for byte in value.utf8 {
            switch byte {
            case 0x5C: text += [0x5C, 0x5C]
            case 0x22: text += [0x5C, 0x22]
            case 0x0A: text += [0x5C, 0x6E]
            default: text.append(byte)
            }
        }
    }

    /// Formats thousandths as a decimal number without trailing zeros.
    static func decimal(_ thousandths: UInt64) -> String {
        let whole = thousandths / 1_000
        var rest = thousandths % 1_000
        guard rest > 0 else { return "\(whole)" }
        var digits = 3
        while rest % 10 == 0 {
            rest /= 10
            digits -= 1
        }
        let text = "\(rest)"
        return "\(whole)." + String(repeating: "0", count: digits - text.utf8.count) + text
    }
}
