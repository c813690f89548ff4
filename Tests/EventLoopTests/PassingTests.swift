import EventLoop
import Glibc
import Testing

/// A channel that passes all it gets on to another one.
final class Passer: Channel {
    var target: Probe?
    var most = 1 << 20
    var passed = 0
    /// What it was told last, apart from bytes.
    var ending = ""

    override func readable() {
        guard let target else { return }
        switch pass(to: target, atMost: most) {
        case .bytes(let count, let isHeard):
            passed += count
            if !isHeard { ending = "untaken" }
            if target.queuedBytes > 0 || !isHeard { stopReading() }
        case .wouldBlock: break
        case .end:
            ending = "end"
            stopReading()
            target.finishWriting()
        case .failed: ending = "failed"
        case nil:
            ending = "unable"
            stopReading()
        }
    }
}

struct PassingTests {
    let loop: Loop
    let passer: Passer
    let sender: Int32
    let receiver: Pair

    init() throws {
        loop = try Loop()
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        sender = ends[1]
        passer = try Passer(loop: loop, descriptor: Descriptor(owning: ends[0]))
        receiver = try Pair(loop)
        let passer = passer
        passer.target = receiver.channel
        receiver.channel.onDrained = { _ in passer.startReading() }
        passer.startReading()
    }

    /// Says all of it, hears what comes out on the other side, and ends.
    private func exchange(_ bytes: [UInt8]) throws -> [UInt8] {
        var said = 0
        var heard: [UInt8] = []
        var isAtEnd = false
        try loop.turn(until: {
            if said < bytes.count {
                let count = bytes[said...].withUnsafeBytes { write(sender, $0.baseAddress, $0.count) }
                if count > 0 { said += count }
                if said == bytes.count { close(sender) }
            }
            if let more = receiver.hear() { heard += more } else { isAtEnd = true }
            return isAtEnd
        })
        return heard
    }

    private static let pattern = (0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    @Test func allBytesArriveInOrderAndTheEndBehindThem() throws {
        #expect(try exchange(Self.pattern) == Self.pattern)
        #expect(passer.ending == "end" && passer.passed == Self.pattern.count)
        #expect(receiver.channel.queuedBytes == 0)
    }

    @Test func noMorePassThanAreAskedFor() throws {
        passer.most = 5
        let bytes = Array("0123456789".utf8)
        _ = bytes.withUnsafeBytes { write(sender, $0.baseAddress, $0.count) }
        try loop.turn(until: { passer.passed > 0 })
        #expect(passer.passed == 5)
        close(sender)
    }

    @Test func whatIsWrittenGoesBehindWhatHasNotPassed() throws {
        // until the receiver, who does not listen, takes no more
        try loop.turn(until: {
            _ = Self.pattern.withUnsafeBytes { write(sender, $0.baseAddress, $0.count) }
            return receiver.channel.queuedBytes > 0
        })
        receiver.channel.onDrained = { _ in }
        let held = receiver.channel.queuedBytes
        #expect(receiver.channel.send(Array("tail".utf8)))
        #expect(receiver.channel.queuedBytes == held + 4)
        if case .some = passer.pass(to: receiver.channel, atMost: 1) { Issue.record("they would overtake") }
        receiver.channel.finishWriting()
        var heard: [UInt8] = []
        var isAtEnd = false
        try loop.turn(until: {
            if let more = receiver.hear() { heard += more } else { isAtEnd = true }
            return isAtEnd
        })
        #expect(heard.count == passer.passed + 4 && heard.suffix(4) == Array("tail".utf8))
        close(sender)
    }

    @Test func whoIsGoneHearsNothing() throws {
        receiver.channel.shutDown()
        _ = write(sender, "x", 1)
        try loop.turn(until: { passer.ending == "unable" })
        close(sender)
    }

    @Test func closingWithBytesInThePipeLeavesNothingBehind() throws {
        try loop.turn(until: {
            _ = Self.pattern.withUnsafeBytes { write(sender, $0.baseAddress, $0.count) }
            return receiver.channel.queuedBytes > 0
        })
        receiver.channel.close()
        #expect(receiver.channel.queuedBytes == 0)
        let other = try Pair(loop)
        passer.target = other.channel
        passer.startReading()
        // the next pipe is an empty one
        let before = passer.passed
        try loop.turn(until: { passer.passed > before })
        var heard = 0
        try loop.turn(until: {
            heard += other.hear()?.count ?? 0
            return heard == passer.passed - before && other.channel.queuedBytes == 0
        })
        close(sender)
    }

    #if DEBUG
        @Test func withoutDescriptorsBytesHaveToBeRead() throws {
            loop.faults = FaultPlan(.pipe, number: 1, code: EMFILE)
            _ = write(sender, "x", 1)
            try loop.turn(until: { passer.ending == "unable" })
            #expect(passer.passed == 0)
            close(sender)
        }

        @Test(arguments: [1, 2, 3, 4]) func aCallThatHasToWaitIsMadeAgain(_ number: Int) throws {
            let plan = FaultPlan(.splice, number: number, code: EAGAIN)
            loop.faults = plan
            #expect(try exchange(Self.pattern) == Self.pattern)
            #expect(plan.hasFired)
        }

        @Test func aReceiverThatIsGoneIsNoticed() throws {
            loop.faults = FaultPlan(.splice, number: 2, code: EPIPE)
            _ = write(sender, "x", 1)
            try loop.turn(until: { passer.ending == "untaken" })
            #expect(receiver.channel.queuedBytes == 0)
            close(sender)
        }

        @Test func aSenderThatBreaksIsNoticed() throws {
            loop.faults = FaultPlan(.splice, number: 1, code: ECONNRESET)
            _ = write(sender, "x", 1)
            try loop.turn(until: { passer.ending == "failed" })
            close(sender)
        }
    #endif
}
