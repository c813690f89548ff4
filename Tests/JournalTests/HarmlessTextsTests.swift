import Testing

@testable import Journal

/// What is remembered of texts that hold no secret.
struct HarmlessTextsTests {
    private static func hash(_ count: Int) -> Int? {
        HarmlessTexts.hash((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }[...])
    }

    @Test("The memo finds a stored text, and no other", arguments: [64, 71, 72, 900, 4096])
    func finds(_ count: Int) {
        var texts = HarmlessTexts()
        let text = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        #expect(!texts.contains(Self.hash(count), knowing: 1))
        texts.insert(Self.hash(count), knowing: 1)
        #expect(texts.contains(Self.hash(count), knowing: 1))
        #expect(texts.contains(HarmlessTexts.hash(([1, 2, 3] + text)[3...]), knowing: 1))
        #expect(!texts.contains(HarmlessTexts.hash(text.dropLast()), knowing: 1))
        for place in text.indices {
            var other = text
            other[place] ^= 1
            #expect(!texts.contains(HarmlessTexts.hash(other[...]), knowing: 1), "a byte at \(place)")
        }
    }

    @Test("A newly learned secret clears the memo")
    func forgets() {
        var texts = HarmlessTexts()
        texts.insert(Self.hash(100), knowing: 1)
        texts.insert(Self.hash(200), knowing: 1)
        #expect(!texts.contains(Self.hash(100), knowing: 2))
        texts.insert(Self.hash(100), knowing: 2)
        #expect(texts.contains(Self.hash(100), knowing: 2))
        #expect(!texts.contains(Self.hash(200), knowing: 2) && !texts.contains(Self.hash(200), knowing: 1))
    }

    @Test("Short and long texts are not kept, and a full memo begins anew", arguments: [0, 63, 4097])
    func bounds(_ count: Int) {
        var texts = HarmlessTexts()
        texts.insert(Self.hash(count), knowing: 1)
        #expect(!texts.contains(Self.hash(count), knowing: 1))
        for other in 64..<320 { texts.insert(Self.hash(other), knowing: 1) }
        #expect(texts.contains(Self.hash(64), knowing: 1))
        texts.insert(Self.hash(320), knowing: 1)
        #expect(!texts.contains(Self.hash(64), knowing: 1) && texts.contains(Self.hash(320), knowing: 1))
    }
}
