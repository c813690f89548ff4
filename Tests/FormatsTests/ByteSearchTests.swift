import Formats
import Testing

struct ByteSearchTests {
    @Test("A search finds what a slow one finds")
    func search() {
        let letters: [UInt8] = [0x61, 0x62]
        var state: UInt64 = 7
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        for _ in 0..<2000 {
            let text = (0..<next(60)).map { _ in letters[next(2)] }
            let wanted = (0..<next(7)).map { _ in letters[next(2)] }
            let start = next(5)
            let slow =
                wanted.isEmpty ? nil : (start..<max(start, text.count)).first { text[$0...].starts(with: wanted) }
            #expect(ByteSearch(wanted).next(in: text.span, from: start) == slow)
        }
    }
}
