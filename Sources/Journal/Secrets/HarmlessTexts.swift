/// Texts that were looked through lately and hold no secret: heads are the same again and again, and to see that costs a tenth
/// of another look. The whole text is remembered, so that no other is ever taken for it, and only for as long as nothing further
/// is known to be a secret.
struct HarmlessTexts: Sendable {
    /// Each has one place where it may be.
    private var texts = [[UInt8]](repeating: [], count: 1 << Self.logarithm)
    /// What was known of secrets when the first of them was looked through.
    private var knowledge = 0

    private static let logarithm = 6
    /// To look through a shorter one costs no more.
    private static let shortest = 64
    private static let longest = 4096

    /// - Parameter knowledge: another number where more, or something else, is known of secrets.
    func contains(_ text: ArraySlice<UInt8>, knowing knowledge: Int) -> Bool {
        guard knowledge == self.knowledge, Self.isRemembered(text) else { return false }
        return text.withUnsafeBytes { text in
            texts[Self.place(text)].withUnsafeBytes { Self.areEqual($0, text) }
        }
    }

    /// A text without a secret.
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

    /// Eight bytes at a time, the last of them twice.
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
