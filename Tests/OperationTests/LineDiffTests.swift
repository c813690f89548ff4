import Testing

@testable import Operation

@Suite("What became of the lines of a text")
struct LineDiffTests {
    private func diff(_ old: String, _ new: String) -> String {
        LineDiff(old.map(String.init), new.map(String.init)).lines.map { $0.mark.rawValue + $0.text }.joined()
    }

    @Test(arguments: [
        ("", "", ""), ("abc", "abc", " a b c"), ("", "ab", "+a+b"), ("ab", "", "-a-b"), ("abc", "axc", " a-b+x c"),
        ("abc", "ac", " a-b c"), ("ac", "abc", " a+b c"), ("aa", "aaa", " a a+a"), ("abcd", "bd", "-a b-c d"),
    ])
    func lines(_ old: String, _ new: String, _ expected: String) { #expect(diff(old, new) == expected) }

    @Test func eitherTextCanBeReadOutOfIt() {
        var state: UInt64 = 7
        for _ in 0..<300 {
            func text() -> [String] {
                (0..<Int(state >> 33 % 12)).map { _ in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return String((state >> 40) % 4)
                }
            }
            state = state &* 6_364_136_223_846_793_005 &+ 1
            let (old, new) = (text(), text())
            let lines = LineDiff(old, new).lines
            #expect(lines.filter { $0.mark != .added }.map(\.text) == old)
            #expect(lines.filter { $0.mark != .removed }.map(\.text) == new)
        }
    }

    @Test func longTexts() {
        let old = (0..<5_000).map { "\($0)" }
        let lines = LineDiff(old, old.reversed()).lines
        #expect(lines.filter { $0.mark != .added }.map(\.text) == old)
    }

    @Test func whatDidNotChangeIsFolded() {
        let old = (0..<20).map { "\($0)" }
        var new = old
        new[10] = "x"
        let folded = LineDiff(old, new).folded(around: 2).lines
        #expect(
            folded.map(\.text)
                == ["… 8 unchanged lines", "8", "9", "10", "x", "11", "12", "… 7 unchanged lines"])
        #expect(LineDiff(["a", "b"], ["a", "c"]).folded(around: 0).lines.map(\.text) == ["a", "b", "c"])
    }
}
