import Testing

@testable import Scripts

@Suite struct FrameReaderTests {
    private func texts(_ pieces: [String], limit: Int = 1000) throws(FrameFault) -> [String] {
        var reader = FrameReader(limit: limit)
        var texts: [String] = []
        for piece in pieces {
            reader.append(Array(piece.utf8))
            while let text = try reader.next() { texts.append(String(decoding: text, as: UTF8.self)) }
        }
        return texts
    }

    @Test func framesAreReadInAnyPieces() throws {
        let written = FrameReader.frame(Array("{\"a\":1}".utf8)) + FrameReader.frame(Array("[]".utf8))
        #expect(String(decoding: written, as: UTF8.self) == "7\n{\"a\":1}\n2\n[]\n")
        let whole = String(decoding: written, as: UTF8.self)
        #expect(try texts([whole]) == ["{\"a\":1}", "[]"])
        #expect(try texts(whole.map(String.init)) == ["{\"a\":1}", "[]"])
    }

    @Test(arguments: ["x\n", "\n", "-1\n", "01\n{\n", "1 \n", "99999999999\n", "2\n{}x", "1001\n"])
    func whatIsNoFrameIsAFault(_ bytes: String) {
        #expect(throws: FrameFault.self) { try texts([bytes]) }
    }

    @Test func anUnfinishedFrameWaits() throws {
        #expect(try texts(["12"]) == [])
        #expect(try texts(["2\n{}"]) == [])
    }
}
