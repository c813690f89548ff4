internal import Formats

/// Secrets with the same beginning in all their encodings. One pass over the bytes finds the longest match, however many there
/// are. It stores keyed sums, with a key of this process, and not the secrets.
struct KnownForms: Sendable {
    /// The beginning and sum of one encoding.
    struct Form {
        let beginning: ByteWordKey
        fileprivate let sum: UInt64

        /// - Returns: nil for a text that is too long.
        init?(_ text: [UInt8]) {
            guard text.count <= KnownForms.longest else { return nil }
            beginning = ByteWordKey(text[...])
            sum = text.reduce(0) { KnownForms.add($1, to: $0, KnownForms.base) }
        }
    }

    private struct Known {
        let count: Int
        let alias: SecretAlias
    }

    private var known: [UInt64: Known] = [:]
    /// Bit n is set if there is a form of n bytes.
    private var lengths: [UInt64] = []
    /// The bytes that occur in any form. Any other byte ends the search.
    private var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// Longer secrets are recognised only by their name.
    static let longest = 16 << 10

    /// Sums are taken modulo this prime, so that 2^61 equals 1.
    private static let prime: UInt64 = 1 << 61 - 1
    private static let base = UInt64.random(in: 1 << 32..<prime)

    private static func add(_ byte: UInt8, to sum: UInt64, _ base: UInt64) -> UInt64 {
        let product = sum.multipliedFullWidth(by: base)
        let folded = (product.low & prime) + (product.high << 3 | product.low >> 61) + UInt64(byte) + 1
        let rest = (folded & prime) + folded >> 61
        return rest >= prime ? rest - prime : rest
    }

    /// - Parameter form: the form of the text.
    mutating func insert(_ text: [UInt8], _ form: Form, _ alias: SecretAlias) {
        for byte in text {
            switch byte >> 6 {
            case 0: bytes.0 |= 1 << UInt64(byte)
            case 1: bytes.1 |= 1 << UInt64(byte & 63)
            case 2: bytes.2 |= 1 << UInt64(byte & 63)
            default: bytes.3 |= 1 << UInt64(byte & 63)
            }
        }
        known[form.sum] = Known(count: text.count, alias: alias)
        let word = text.count >> 6
        if lengths.count <= word { lengths += [UInt64](repeating: 0, count: word + 1 - lengths.count) }
        lengths[word] |= 1 << UInt64(text.count & 63)
    }

    /// - Returns: true if no form is left.
    mutating func remove(_ form: Form) -> Bool {
        known[form.sum] = nil
        return known.isEmpty
    }

    private func has(_ byte: UInt8) -> Bool {
        let word =
            switch byte >> 6 {
            case 0: bytes.0
            case 1: bytes.1
            case 2: bytes.2
            default: bytes.3
            }
        return word >> UInt64(byte & 63) & 1 == 1
    }

    /// The longest form that starts at this place and ends at a word boundary.
    func find(
        in text: [UInt8], at place: Int, _ steps: inout StepBudget
    ) -> (alias: SecretAlias, count: Int)? {
        let base = Self.base
        let limit = min(text.count - place, lengths.count << 6 - 1)
        var found: (alias: SecretAlias, count: Int)?
        var sum: UInt64 = 0
        var looked = 0
        for index in 0..<max(0, limit) {
            let byte = text[place + index]
            guard has(byte) else { break }
            looked += 1
            sum = Self.add(byte, to: sum, base)
            let count = index + 1
            guard lengths[count >> 6] >> UInt64(count & 63) & 1 == 1,
                place + count == text.count || !Self.isInWord(text[place + count]),
                let one = known[sum], one.count == count
            else { continue }
            found = (one.alias, count)
        }
        steps.spend(looked)
        return found
    }

    private static func isInWord(_ byte: UInt8) -> Bool { ASCII.isAlpha(byte) || ASCII.isDigit(byte) }
}
