import Authorization
import Testing

@Suite("Documents that are kept over restarts")
struct StateDocumentsTests {
    @Test func whatIsWrittenIsReadAgain() throws {
        var documents = StateDocuments()
        let taken = [
            documents.set("b", [0, 255, 10]), documents.set("a \"quoted\" ü", []), documents.put("gone", [1]),
            documents.put("gone", nil),
        ]
        #expect(taken == [true, true, true, true])
        let text = documents.text
        #expect(
            String(decoding: text, as: UTF8.self)
                == "{\"version\":1,\"documents\":{\"a \\\"quoted\\\" ü\":\"\",\"b\":\"AP8K\"}}\n")
        #expect(try StateDocuments(reading: text) == documents)
    }

    @Test func eachBoundHolds() {
        var documents = StateDocuments()
        let long = String(repeating: "n", count: StateDocuments.longestName)
        let largest = [UInt8](repeating: 7, count: StateDocuments.largest)
        let taken = [
            documents.set("", [1]), documents.set(long + "n", [1]), documents.set(long, [1]),
            documents.set("large", largest + [7]),
        ]
        #expect(taken == [false, false, true, false])
        var count = 0
        while documents.set("\(count)", largest) { count += 1 }
        #expect(count == StateDocuments.mostBytes / StateDocuments.largest - 1)
        documents.remove("0")
        let after = [documents.set("other", [1]), documents.set("1", [1])]
        #expect(after == [true, true])
        #expect(documents.values["1"] == [1])
    }

    @Test func thereAreNoMoreThanSoMany() {
        var documents = StateDocuments()
        let taken = (0..<StateDocuments.mostDocuments).filter { documents.set("\($0)", []) }
        #expect(taken.count == StateDocuments.mostDocuments)
        let after = [documents.set("one more", []), documents.set("5", [1])]
        #expect(after == [false, true])
    }

    @Test(arguments: [
        "", "{", "[]", #"{"version":2,"documents":{}}"#, #"{"version":1}"#, #"{"version":1,"documents":{"a":1}}"#,
        #"{"version":1,"documents":{"a":"?"}}"#, #"{"version":1,"documents":{"":"AA=="}}"#,
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(throws: StateDocuments.Fault.self) { try StateDocuments(reading: Array(text.utf8)) }
    }
}
