/// A cache of texts without secrets. Heads repeat often, and a comparison costs a tenth of a search. It stores whole texts, so no
/// other text can match, and is cleared when new secrets are learned.
struct HarmlessTexts: Sendable {
    /// One slot for each hash.
    private var texts = [[UInt8]](repeating: [], count: 1 << Self.logarithm)
    /// The version of the known secrets at the time of the searches.
    private var knowledge = 0

    private static let logarithm = 6
    /// The search of a shorter text costs no more than the look-up.
    private static let shortest = 64
    private static let longest = 4096

    /// - Parameter knowledge: a version that changes with the known secrets.
    func contains(_ text: ArraySlice<UInt8>, knowing knowledge: Int) -> Bool {
        guard knowledge == self.knowledge, Self.isRemembered(text) else { return false }
        return text.withUnsafeBytes { text in
            texts[Self.place(text)].withUnsafeBytes { Self.areEqual($0, text) }
        }
    }

    /// Adds a text without a secret.
    mutating func insert(_ text: ArraySlice<UInt8>, knowing knowledge: Int) {
        guard Self.isRemembered(text) else { return }
        if knowledge != self.knowledge {
            self.knowledge = knowledge
            for place in texts.indices { texts[place].removeAll(keepingCapacity: true) }
        }
        let place = text.withUnsafeBytes(Self.place)
        texts[place].removeAll(keepingCapacity: true)
        texts[place].append(contentsOf: text)
    }

    private static func isRemembered(_ text: ArraySlice<UInt8>) -> Bool { (shortest...longest).contains(text.count) }

    /// Hashes eight bytes at a time; the last eight overlap.
    private static func place(_ text: UnsafeRawBufferPointer) -> Int {
        var sum = UInt64(truncatingIfNeeded: text.count)
        var offset = 0
        while offset &+ 8 <= text.count {
            sum = (sum &<< 5 | sum &>> 59) ^ text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        sum ^= text.loadUnaligned(fromByteOffset: text.count &- 8, as: UInt64.self)
        return Int(truncatingIfNeeded: (sum &* 0x9E37_79B9_7F4A_7C15) &>> UInt64(64 - logarithm))
    }

    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt64 = 0
        var offset = 0
        while offset &+ 8 <= left.count {
            difference |=
                left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                ^ right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        let last = left.count &- 8
        difference |=
            left.loadUnaligned(fromByteOffset: last, as: UInt64.self)
            ^ right.loadUnaligned(fromByteOffset: last, as: UInt64.self)
        return difference == 0
    }
}
