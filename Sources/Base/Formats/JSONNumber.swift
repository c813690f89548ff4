/// The value of a JSON number, independent of its spelling: `200`, `200.0` and `2e2` are equal.
struct JSONNumber: Equatable {
    private let isNegative: Bool
    /// The digits without leading and trailing zeros.
    private let digits: [UInt8]
    /// The power of ten of the last digit.
    private let exponent: Int

    /// - Parameter text: a number in the grammar of RFC 8259 §6.
    init(_ text: String) {
        let parts = text.utf8.split(maxSplits: 1) { $0 | 0x20 == 0x65 }
        // an exponent beyond 64 bits counts as infinite
        var exponent = parts.count > 1 ? Self.exponent(parts[1]) : 0
        let mantissa = parts.first.map(Array.init) ?? []
        let fraction = mantissa.firstIndex(of: 0x2E).map { mantissa.count - $0 - 1 } ?? 0
        exponent = exponent.subtractingReportingOverflow(fraction).partialValue
        var digits = mantissa.filter(ASCII.isDigit)
        while digits.last == 0x30 {
            digits.removeLast()
            exponent = exponent.addingReportingOverflow(1).partialValue
        }
        self.digits = Array(digits.drop { $0 == 0x30 })
        // 0 ignores sign and exponent
        isNegative = !self.digits.isEmpty && mantissa.first == 0x2D
        self.exponent = self.digits.isEmpty ? 0 : exponent
    }

    private static func exponent(_ text: Substring.UTF8View) -> Int {
        let text = String(Substring(text))
        return Int(text) ?? (text.hasPrefix("-") ? Int.min / 2 : Int.max / 2)
    }
}

extension JSONValue {
    /// Whether both values mean the same. Texts compare by characters, numbers by value, objects without regard to order.
    /// Conditions use this; `==` compares the spelling.
    public func means(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.number(let left), .number(let right)): left == right || JSONNumber(left) == JSONNumber(right)
        // by bytes: canonically equivalent characters may differ in their bytes
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.means($1) }
        case (.object(let left), .object(let right)):
            left.count == right.count
                && left.allSatisfy { member in other[member.name].map(member.value.means) ?? false }
        default: self == other
        }
    }
}
