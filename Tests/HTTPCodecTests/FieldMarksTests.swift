import HTTPCodec
import TestInputs
import Testing

/// The marks of a table never hide a field that is there, whatever is done to it.
struct FieldMarksTests {
    private static let names = [
        "Host", "connection", "TE", "Via", "X-Debug", "x-debug", "X-Dabug", "Cookie", "Accept", "ETag", "-", "A", "",
        "X-Authenticate-Response", "Persistent-Auth",
    ]

    @Test(arguments: UInt64(1)...20)
    func anyEdits(_ seed: UInt64) throws {
        var random = SplitMix(state: seed)
        var head = try requestHead("GET http://h/ HTTP/1.1\r\nHost: h\r\nx-Debug: 1\r\nvia: a\r\nVia: b\r\n\r\n")
        for _ in 0..<60 {
            let name = try #require(Self.names.randomElement(using: &random))
            switch random.next() % 5 {
            case 0: head.fields.add(name, "v")
            case 1: head.fields.set(name.uppercased(), "w")
            case 2: head.fields.remove(named: name.lowercased())
            case 3 where !head.fields.isEmpty: head.fields.remove(at: Int(random.next() % UInt64(head.fields.count)))
            default:
                let copy = head
                head.fields.add(name, "x")
                check(copy.fields)
            }
            check(head.fields)
        }
    }

    private func check(_ fields: FieldTable) {
        for name in Self.names + ["Date", "x-other"] {
            let place = fields.lines.firstIndex { $0.name.lowercased() == name.lowercased() }
            #expect(fields.first(named: name) == place)
            #expect(fields[name] == place.map { fields.lines[$0].value })
            let known = FieldName(name)
            if known != .other { #expect(fields.first(known) == place && fields.contains(known) == (place != nil)) }
            if place != nil { #expect(fields.marks.mayHold(FieldMarks(named: name.uppercased()))) }
        }
    }

    @Test("A head that is read anew has the marks of the new one alone")
    func nextHead() throws {
        var parser = HeadParser()
        var head = ResponseHead()
        for text in ["HTTP/1.1 200 OK\r\nVia: a\r\nX-A: b\r\n\r\n", "HTTP/1.1 200 OK\r\nDate: now\r\n\r\n"] {
            _ = try parser.parse(Array(text.utf8).span, into: &head, limits: HeadLimits())
        }
        #expect(!head.fields.marks.mayHold(FieldMarks(named: "Via")))
        #expect(head.fields.marks.mayHold(FieldMarks(named: "dATE")))
    }

    @Test func sets() {
        let (one, two) = (FieldMarks(named: "X-One"), FieldMarks(named: "Cookie"))
        #expect(one.union(two).mayHold(one) && one.union(two).mayHold(two))
        #expect(!one.mayHold(one.union(two)))
        #expect(one.mayHold(one.intersection(two)))
        #expect(FieldMarks().mayHold(one.intersection(two)))
        #expect(!FieldMarks().mayHold(one))
    }
}
