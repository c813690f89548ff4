internal import Formats

/// Known secrets in all their encodings, to find the longest one that begins at a place. It stores hashes with a key of this
/// process, and not the secrets.
struct KnownForms: Sendable {
    /// One encoding of a secret.
    struct Form {
        fileprivate let beginning: UInt64
        fileprivate let hash: Int
    }

    /// What is common to the forms that begin alike.
    private struct Beginning {
        var count = 0
        var longest = 0
        /// Bit n is set if there is a form whose length is n modulo 64.
        var lengths: UInt64 = 0
        /// The bytes that occur in any form, as bits. Any other byte ends the search.
        var bytes = SIMD4<UInt64>()
    }

    private var aliases: [Int: SecretAlias] = [:]
    private var groups: [UInt64: Beginning] = [:]

    /// Longer secrets are recognised only by their name.
    static let longest = 16 << 10

    var beginnings: some Collection<UInt64> { groups.keys }

    func contains(_ beginning: UInt64) -> Bool { groups[beginning] != nil }

    /// - Returns: nil for a text that is too long.
    mutating func insert(_ text: [UInt8], _ alias: SecretAlias) -> Form? {
        guard text.count <= Self.longest else { return nil }
        let beginning = WordTable.beginning(of: text[...])
        var group = groups[beginning] ?? Beginning()
        group.count += 1
        group.longest = max(group.longest, text.count)
        group.lengths |= 1 << UInt64(text.count & 63)
        for byte in text { group.bytes[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }
        groups[beginning] = group
        var hash = 0
        Self.ends(in: text, at: 0, group) { count, value in if count == text.count { hash = value() } }
        aliases[hash] = alias
        return Form(beginning: beginning, hash: hash)
    }

    mutating func remove(_ form: Form) {
        aliases[form.hash] = nil
        groups[form.beginning]?.count -= 1
        if let group = groups[form.beginning], group.count <= 0 { groups[form.beginning] = nil }
    }

    /// The longest form that starts at this place and ends at a word boundary.
    func find(in text: [UInt8], at place: Int, _ steps: inout StepBudget) -> (alias: SecretAlias, count: Int)? {
        guard let group = groups[WordTable.beginning(of: text[place...])] else { return nil }
        var found: (alias: SecretAlias, count: Int)?
        let looked = Self.ends(in: text, at: place, group) { count, hash in
            guard group.lengths >> UInt64(count & 63) & 1 == 1, let alias = aliases[hash()] else { return }
            found = (alias, count)
        }
        steps.spend(looked)
        return found
    }

    /// Visits the ends of words behind a place, each with the hash of the bytes before it.
    /// - Returns: the number of bytes that were read.
    @discardableResult
    private static func ends(
        in text: [UInt8], at place: Int, _ group: Beginning, _ visit: (_ count: Int, _ hash: () -> Int) -> Void
    ) -> Int {
        var hasher = Hasher()
        let limit = min(text.count, place + group.longest)
        var (start, end) = (place, place)
        while end < limit, group.bytes[Int(text[end] >> 6)] >> UInt64(text[end] & 63) & 1 == 1 {
            end += 1
            guard end == text.count || !isInWord(text[end]) else { continue }
            text[start..<end].withUnsafeBytes { hasher.combine(bytes: $0) }
            start = end
            visit(end - place) {
                var copy = hasher
                copy.combine(end - place)
                return copy.finalize()
            }
        }
        return end - place
    }

    private static func isInWord(_ byte: UInt8) -> Bool { ASCII.isAlpha(byte) || ASCII.isDigit(byte) }
}
