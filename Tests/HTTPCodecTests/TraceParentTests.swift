import HTTPCodec
import Testing

@Suite("traceparent")
struct TraceParentTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"

    @Test func read() throws {
        let read = try #require(TraceParent("00-\(Self.trace)-\(Self.parent)-01"))
        #expect(read.trace.description == Self.trace)
        #expect(read.parent == 0x00f0_67aa_0ba9_02b7 && read.isSampled)
        #expect(read.description == "00-\(Self.trace)-\(Self.parent)-01")
        #expect(TraceParent("00-\(Self.trace)-\(Self.parent)-00")?.isSampled == false)
    }

    @Test("Later versions may say more, and other flags mean nothing here")
    func later() {
        for text in ["01-\(Self.trace)-\(Self.parent)-01", "cc-\(Self.trace)-\(Self.parent)-01-more"] {
            #expect(TraceParent(text)?.description == "00-\(Self.trace)-\(Self.parent)-01")
        }
        #expect(TraceParent("00-\(Self.trace)-\(Self.parent)-ff")?.flags == 1)
        #expect(TraceParent("00-\(Self.trace)-\(Self.parent)-fe")?.isSampled == false)
    }

    @Test(
        "Whatever breaks a rule is none",
        arguments: [
            "", "00", "00-\(trace)-\(parent)", "00-\(trace)-\(parent)-1", "00-\(trace)-\(parent)-01-more",
            "00-\(trace)-\(parent)-011", "ff-\(trace)-\(parent)-01", "01-\(trace)-\(parent)-01more",
            "00-\(trace.uppercased())-\(parent)-01", "00-\(trace)-\(parent.uppercased())-01",
            "00-00000000000000000000000000000000-\(parent)-01", "00-\(trace)-0000000000000000-01",
            "00_\(trace)_\(parent)_01", " 00-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-0g",
            "0x-\(trace)-\(parent)-01", "01-\(trace)-\(parent)-01-" + String(repeating: "a", count: 1000),
        ])
    func none(_ text: String) {
        #expect(TraceParent(text) == nil)
    }

    @Test func random() {
        let (one, other) = (TraceID.random(), TraceID.random())
        #expect(one != other && one.description.utf8.count == 32)
        #expect(TraceID.text(1) == "0000000000000001")
    }
}
