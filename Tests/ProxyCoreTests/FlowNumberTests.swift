import Testing

@testable import ProxyCore

@Suite("Ids of flows")
struct FlowNumberTests {
    @Test func noTwoLoopsGiveTheSame() {
        let loops = [0, 1, Int(CommandBuffer.loops) - 1].map { Loop(CommandBuffer(loop: $0)) }
        var given: Set<UInt64> = []
        for _ in 0..<70_000 { for index in loops.indices { given.insert(loops[index].out.nextFlow()) } }
        #expect(given.count == 210_000 && !given.contains(0))
        // the bits above tell runs of the daemon apart
        #expect(given.allSatisfy { $0 < 1 << 48 })
    }

    private final class Loop {
        var out: CommandBuffer
        init(_ out: consuming CommandBuffer) { self.out = out }
    }
}
