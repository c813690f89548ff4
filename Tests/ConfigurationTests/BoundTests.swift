import Testing

/// Files that are made to do harm.
@Suite struct BoundTests {
    @Test func nestingIsBounded() {
        for (open, close) in [("[", "]"), ("{a: ", "}")] {
            for depth in [70, 900, 20_000] {
                let text =
                    "version: 1\nx: " + String(repeating: open, count: depth) + String(repeating: close, count: depth)
                let found = diagnosis(text)
                #expect(found.contains("nested deeper than 64 levels") || found.contains("invalid YAML"), "\(depth)")
            }
        }
        let blocks = (0..<900).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
        #expect(diagnosis(blocks).contains("nested deeper than 64 levels"))
    }

    @Test func aliasesThatMultiplyAreRefused() {
        var text = "version: 1\na0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...30 {
            text +=
                "a\(level): &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ") + "]\n"
        }
        #expect(diagnosis(text).contains("the aliases (*name) of the file expand to too many values"))
        // as a key they would be followed while the text is read
        #expect(diagnosis(text + "? *a30\n: 1\n").contains("the aliases (*name) of the file expand to too many values"))
    }

    @Test func aliasesOfManyValuesAreBounded() {
        let items = Array(repeating: "x", count: 1000).joined(separator: ", ")
        let text =
            "version: 1\na: &a [\(items)]\nb: [" + Array(repeating: "*a", count: 500).joined(separator: ", ") + "]\n"
        #expect(diagnosis(text).contains("has more than 100000 values"))
    }

    @Test func whatAnAliasStandsForCountsAsDeepAsItIs() {
        let inner = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let outer = { (levels: Int) in
            "version: 1\na: &a \(inner)\nb: " + String(repeating: "[", count: levels) + "*a"
                + String(repeating: "]", count: levels) + "\n"
        }
        #expect(
            diagnosis(outer(30)).contains("usher.yaml:3:34: error: lists and maps are nested deeper than 64 levels"))
        #expect(!diagnosis(outer(20)).contains("nested deeper"))
    }

    @Test func aKeyThatIsRepeatedAfterManyIsFound() {
        let keys = (0..<40).map { "k\($0): 1\n" }.joined()
        let found = diagnosis("version: 1\n\(keys)k2: 1\nk39: 1\nversion: 1\n")
        #expect(
            found.contains("usher.yaml:42:1: error: the key \"k2\" is already in line 4; each key must be unique"))
        #expect(found.contains("usher.yaml:43:1: error: the key \"k39\" is already in line 41;"))
        #expect(found.contains("usher.yaml:44:1: error: the key \"version\" is already in line 1;"))
    }

    @Test func anAliasOfNothingIsNamed() {
        #expect(
            diagnosis("version: 1\nlisten: *nowhere\n").contains(
                "usher.yaml:2:9: error: invalid YAML: found undefined alias"))
        // nor is a value there before it is whole
        #expect(
            diagnosis("version: 1\nlisten: &a [*a]\n").contains(
                "usher.yaml:2:13: error: invalid YAML: found undefined alias"))
    }

    @Test func whatIsWrongBeforeTheTextEndsIsToldBesideTheEnd() {
        let found = diagnosis("version: 1\nversion: 1\nlisten: [\n")
        #expect(found.contains("2:1: error: the key \"version\" is already in line 1"))
        #expect(found.contains("invalid YAML"))
    }

    @Test func largeFilesAreRefusedUnread() {
        let found = diagnosis("version: 1\n" + String(repeating: "# x\n", count: 1 << 18))
        #expect(found.contains("larger than 1MiB"))
    }

    @Test func manyRepeatedKeysEnd() {
        let text = "version: 1\n" + (0..<40).map { "k\($0): 1\nk\($0): 2\n" }.joined()
        #expect(diagnosis(text).contains("is repeated"))
        #expect(diagnosis("version: 1\n\"\": 1\n\"\": 2\n").contains("is already in line 2"))
        #expect(diagnosis("version: 1\n&k a: 1\n*k : 2\n").contains("error"))
    }
}
