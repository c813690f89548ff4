import Configuration
import Testing

/// Files that are made to do harm.
@Suite struct BoundTests {
    @Test func nestingIsBounded() {
        for (open, close) in [("[", "]"), ("{a: ", "}")] {
            for depth in [70, 900, 20_000] {
                let text =
                    "version: 1\nx: " + String(repeating: open, count: depth) + String(repeating: close, count: depth)
                let found = diagnosis(text)
                #expect(found.contains("nested deeper than 64 levels") || found.contains("no valid YAML"), "\(depth)")
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
        #expect(diagnosis(text).contains("the aliases (*name) of the file stand for too much"))
        // as a key they would be followed while the text is read
        #expect(diagnosis(text + "? *a30\n: 1\n").contains("the aliases (*name) of the file stand for too much"))
    }

    @Test func aliasesOfManyValuesAreBounded() {
        let items = Array(repeating: "x", count: 1000).joined(separator: ", ")
        let text =
            "version: 1\na: &a [\(items)]\nb: [" + Array(repeating: "*a", count: 500).joined(separator: ", ") + "]\n"
        #expect(diagnosis(text).contains("holds more than 100000 values"))
    }

    @Test func largeFilesAreRefusedUnread() {
        let found = diagnosis("version: 1\n" + String(repeating: "# x\n", count: 1 << 18))
        #expect(found.contains("larger than 1MiB"))
    }

    @Test func manyRepeatedKeysEnd() {
        let text = "version: 1\n" + (0..<40).map { "k\($0): 1\nk\($0): 2\n" }.joined()
        #expect(diagnosis(text).contains("is repeated"))
        #expect(diagnosis("version: 1\n\"\": 1\n\"\": 2\n").contains("already stands in line 2"))
        #expect(diagnosis("version: 1\n&k a: 1\n*k : 2\n").contains("error"))
    }
}
