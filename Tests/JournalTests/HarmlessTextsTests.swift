import Testing

@testable import Journal

/// What is remembered of texts that hold no secret.
struct HarmlessTextsTests {
    private static func text(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    @Test("The cache finds a stored text, and no other", arguments: [64, 71, 72, 900, 4096])
    func finds(_ count: Int) {
        var texts = HarmlessTexts()
        let text = Self.text(count)
        #expect(!texts.contains(text[...], knowing: 1))
        texts.insert(text[...], knowing: 1)
        #expect(texts.contains(text[...], knowing: 1))
        #expect(texts.contains(([1, 2, 3] + text)[3...], knowing: 1))
        #expect(!texts.contains(text.dropLast(), knowing: 1))
        for place in text.indices {
            var other = text
            other[place] ^= 1
            #expect(!texts.contains(other[...], knowing: 1), "a byte at \(place)")
        }
    }

    @Test("A newly learned secret clears the cache")
    func forgets() {
        var texts = HarmlessTexts()
        texts.insert(Self.text(100)[...], knowing: 1)
        texts.insert(Self.text(200)[...], knowing: 1)
        #expect(!texts.contains(Self.text(100)[...], knowing: 2))
        texts.insert(Self.text(100)[...], knowing: 2)
        #expect(texts.contains(Self.text(100)[...], knowing: 2))
        #expect(!texts.contains(Self.text(200)[...], knowing: 2) && !texts.contains(Self.text(200)[...], knowing: 1))
    }

    @Test("Short and long texts are not cached", arguments: [0, 63, 4097])
    func bounds(_ count: Int) {
        var texts = HarmlessTexts()
        texts.insert(Self.text(count)[...], knowing: 1)
        #expect(!texts.contains(Self.text(count)[...], knowing: 1))
    }
}
