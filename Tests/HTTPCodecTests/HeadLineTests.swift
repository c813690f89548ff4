import HTTPCodec
import TestInputs
import Testing

/// Lines go out as they came where they may, and as they must where not: both look the same.
struct HeadLineTests {
    /// What is written, line by line, told by the table alone.
    private func expected(_ head: ResponseHead) -> String {
        var text = "HTTP/1.1 \(head.status) \(head.reason)\r\n"
        for index in head.fields.slots.indices where !head.fields.slots[index].known.isHopByHop {
            text += "\(head.fields.name(index)): \(head.fields.value(index))\r\n"
        }
        return text + "\r\n"
    }

    private func written(_ head: ResponseHead) -> String {
        var out: [UInt8] = []
        var forwarding = Forwarding(framing: .none)
        forwarding.keepsLength = true
        head.write(to: &out, forwarding)
        return String(decoding: out, as: UTF8.self)
    }

    private static let lines = [
        "A: 1", "Bb:2", "C:  3", "D: 4 ", "E:", "F: ", "Connection: close", "Keep-Alive: 5", "G-g: x: y", "H: \u{E9}",
        "Content-Length: 0", "I:\t6", "TE: trailers",
    ]

    @Test("Any lines in any order, with any edits", arguments: UInt64(1)...40)
    func anyHead(_ seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let lines = Self.lines.shuffled(using: &random).prefix(Int(random.next() % 13))
        var head = try responseHead("HTTP/1.1 204 No Content\r\n\(lines.map { $0 + "\r\n" }.joined())\r\n")
        #expect(written(head) == expected(head))
        for _ in 0..<6 {
            let name = ["A", "Bb", "C", "D", "New", "G-g", "H"].randomElement(using: &random) ?? "A"
            switch random.next() % 5 {
            case 0: head.fields.set(name, "set")
            case 1: head.fields.add(name, ": ")
            case 2: head.fields.remove(named: name)
            case 3: head.fields.set(name, "")
            default: if let index = head.fields.first(named: name) { head.fields.setValue(index, "\(index)") }
            }
            #expect(written(head) == expected(head))
        }
    }

    @Test(arguments: [0, 9, 10, 99, 100, 12_345, UInt64.max])
    func decimals(_ value: UInt64) {
        var out: [UInt8] = Array("x".utf8)
        out.append(decimal: value)
        #expect(String(decoding: out, as: UTF8.self) == "x\(value)")
    }

    /// Of each kind of byte, one at every place of a long line: words of eight bytes begin anywhere.
    @Test(arguments: 0..<40)
    func placesOfFaults(_ place: Int) {
        let before = String(repeating: "n", count: place)
        func offset(_ line: String, _ code: HTTPFault.Code, _ offset: Int) {
            let start = "GET http://h/ HTTP/1.1\r\n"
            for cuts in Pieces.cuts((start + line).utf8.count + 8) {
                let bytes = Array((start + line + "nnnn\r\n\r\n").utf8)
                #expect(
                    readRequest(bytes, cuts: cuts).reading == .fault(HTTPFault(code, at: start.utf8.count + offset)))
            }
        }
        offset("A: \(before)\u{1}", .badFieldValue, 3 + place)
        offset("A: \(before)\t\u{7F}", .badFieldValue, 4 + place)
        offset("A: \(before)\n", .bareLineFeed, 3 + place)
        offset("A: \(before)\r", .bareCarriageReturn, 3 + place)
        offset("n\(before)(: ", .badFieldName, 1 + place)
        offset("n\(before) : ", .spaceBeforeColon, 1 + place)
        // the whole line is looked at before its name
        offset("n\(before)(: \u{1}", .badFieldValue, 4 + place)
    }
}
