import EventLoop
import Glibc
import Testing

@testable import ProxyDriver

/// Writes down what it is told.
private final class Gatherer: StreamChannel {
    var told: [String] = []

    override func queueGrew() { told.append("backed up") }
    override func writeFailed(_ error: SystemError) { told.append("failed") }

    func gather(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes { gather($0) } }
    func send(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes { send($0) } }
}

@Suite("What a channel gathers until a turn is over")
struct GatherTests {
    private let loop: Loop
    private let channel: Gatherer
    private let peer: Int32

    /// On a socket that keeps apart what was sent apart.
    init() throws {
        loop = try Loop()
        var ends: [Int32] = [0, 0]
        try #require(
            socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        channel = try Gatherer(loop: loop, bufferPool: TLSBufferPool(), descriptor: Descriptor(owning: ends[0]))
        peer = ends[1]
    }

    /// What was sent at once; nil where nothing waits.
    private func hear() -> String? {
        var bytes = [UInt8](repeating: 0, count: 256 << 10)
        let count = recv(peer, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    /// One turn, in which nothing else may happen for long.
    private func turn() throws {
        let alarm = try Alarm(loop: loop) {}
        _ = alarm.set(milliseconds: 1)
        loop.turn()
        alarm.cancel()
    }

    @Test func allOfATurnLeavesAtOnce() throws {
        defer { close(peer) }
        for text in ["one ", "two ", "three"] { #expect(channel.gather(text)) }
        #expect(hear() == nil)
        try turn()
        #expect(hear() == "one two three")
        // and the next turn has its own
        #expect(channel.gather("four"))
        try turn()
        #expect(hear() == "four")
        #expect(channel.told.isEmpty)
    }

    @Test func whatIsSentComesBehindWhatWasGathered() throws {
        defer { close(peer) }
        #expect(channel.gather("one"))
        #expect(channel.send("two"))
        #expect([hear(), hear()] == ["one", "two"])
        try turn()
        #expect(hear() == nil)
    }

    @Test func muchDoesNotWait() throws {
        defer { close(peer) }
        #expect(channel.gather("first "))
        #expect(channel.gather(String(repeating: "a", count: Loop.scratchSize)))
        #expect(hear()?.utf8.count == 6 + Loop.scratchSize)
    }

    @Test func nothingIsLostAtTheEnd() throws {
        defer { close(peer) }
        #expect(channel.gather("last words"))
        channel.finish()
        #expect(hear() == "last words")
    }

    @Test func whoLeavesSaysFirstWhatWasGathered() throws {
        defer { close(peer) }
        #expect(channel.gather("last words"))
        channel.leave()
        #expect(hear() == "last words")
        try turn()
        #expect(channel.told.isEmpty)
    }

    @Test func aPeerThatIsGoneIsToldOfLater() throws {
        close(peer)
        #expect(channel.gather("for nobody"))
        try turn()
        #expect(channel.told == ["failed"])
    }

    @Test func aClosedChannelTellsNobody() throws {
        close(peer)
        #expect(channel.gather("for nobody"))
        channel.close()
        #expect(!channel.gather("more"))
        try turn()
        #expect(channel.told.isEmpty)
    }

    @Test func whatTheKernelDoesNotTakeIsToldOf() throws {
        defer { close(peer) }
        while channel.queuedBytes == 0 { #expect(channel.send(String(repeating: "a", count: 1 << 10))) }
        let queued = channel.queuedBytes
        #expect(channel.gather("behind it"))
        try turn()
        #expect(channel.told == ["backed up"])
        #expect(channel.queuedBytes == queued + 9)
    }
}
