import EventLoop
import Glibc
import Testing

@Suite("A connection between two channels of one loop")
struct MemoryEndTests {
    private let loop: Loop
    private let near: Probe
    private let far: Probe

    private static let bound = Loop.scratchSize

    init() throws {
        loop = try Loop()
        let ends = MemoryEnd.pair()
        near = Probe(loop: loop, end: ends.near)
        far = Probe(loop: loop, end: ends.far)
    }

    private static func pattern(_ count: Int, _ seed: Int = 31) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* seed >> 3) }
    }

    /// Turns until nobody is told of anything any more. No turn waits, for no event is added.
    private func rest() { while loop.turn() {} }

    // MARK: bytes

    @Test func bytesArriveInTheirOrderInBothDirections() {
        near.startReading()
        far.startReading()
        for text in ["one ", "two ", "three"] {
            #expect(near.send(Array(text.utf8)))
            #expect(far.send(Array(text.uppercased().utf8)))
        }
        rest()
        #expect(far.received == Array("one two three".utf8))
        #expect(near.received == Array("ONE TWO THREE".utf8))
        #expect(near.told.isEmpty && far.told.isEmpty)
    }

    @Test func nobodyIsToldWhileTheOtherIsAtWork() {
        far.startReading()
        var wasCalled = false
        far.onReadable = { _ in wasCalled = true }
        #expect(near.send([1]))
        near.finishWriting()
        #expect(!wasCalled)
        rest()
        #expect(wasCalled)
    }

    @Test func whoIsToldInATurnIsToldOnceInIt() {
        far.startReading()
        var calls = 0
        far.onReadable = { _ in calls += 1 }
        for byte in 0..<10 { #expect(near.send([UInt8(byte)])) }
        loop.turn()
        #expect(calls == 1 && far.received == Array(0..<10))
    }

    // MARK: back-pressure

    @Test func soMuchWaitsAtMost() {
        let bytes = Self.pattern(1 << 20)
        #expect(near.send(bytes))
        #expect(near.queuedBytes == bytes.count - Self.bound)
        #expect(near.untakenBytes == bytes.count)
        rest()
        #expect(near.queuedBytes == bytes.count - Self.bound && near.told.isEmpty, "nobody reads")
        far.startReading()
        rest()
        #expect(far.received == bytes)
        #expect(near.told == ["drained"] && near.queuedBytes == 0 && near.untakenBytes == 0)
    }

    @Test func whoIsFullInBothDirectionsGoesOn() {
        let (one, two) = (Self.pattern(1 << 20), Self.pattern(1 << 20, 29))
        #expect(near.send(one) && far.send(two))
        rest()
        #expect(near.queuedBytes > 0 && far.queuedBytes > 0)
        near.startReading()
        rest()
        #expect(near.received == two)
        #expect(near.queuedBytes == one.count - Self.bound, "the other direction is still full")
        far.startReading()
        rest()
        #expect(far.received == one)
        #expect(near.told == ["drained"] && far.told == ["drained"])
    }

    @Test func whoeverDoesNotReadIsNotTold() {
        far.startReading()
        #expect(near.send(Array("one".utf8)))
        rest()
        far.stopReading()
        #expect(near.send(Array("two".utf8)))
        rest()
        #expect(far.received == Array("one".utf8) && far.holdsUnread)
        far.startReading()
        rest()
        #expect(far.received == Array("onetwo".utf8) && !far.holdsUnread)
    }

    @Test func whoStopsReadingBeforeItIsToldIsNotTold() {
        far.startReading()
        #expect(near.send([1]))
        far.stopReading()
        rest()
        #expect(far.received.isEmpty)
    }

    @Test func whoTakesSomethingIsSeenToDoSo() {
        #expect(near.send(Self.pattern(Self.bound)))
        #expect(near.isTaking() && !near.isTaking())
        far.startReading()
        rest()
        #expect(near.send(Self.pattern(8)))
        rest()
        #expect(!near.isTaking(), "nothing is left")
    }

    @Test func twoThatKeepEachOtherBusyHoldUpNobodyElse() throws {
        let echo: (Probe) -> Void = { probe in
            probe.received = []
            _ = probe.send([7])
        }
        near.onReadable = echo
        far.onReadable = echo
        near.startReading()
        far.startReading()
        #expect(near.send([7]))
        let box = try Mailbox<Int>()
        var letters = 0
        let port = try MailboxPort(loop: loop, box) { letters += $0 }
        box.post(1)
        for _ in 0..<3 { loop.turn() }
        #expect(letters == 1)
        near.close()
        loop.releaseClosed()
        withExtendedLifetime(port) {}
    }

    /// As many calls, one in the other, as there are turns would end the stack.
    @Test func noCallIsMadeWithinAnother() {
        var depth = 0
        var deepest = 0
        var rounds = 0
        let echo: (Probe) -> Void = { probe in
            depth += 1
            deepest = max(deepest, depth)
            rounds += 1
            if rounds < 1_000 { _ = probe.send([7]) }
            depth -= 1
        }
        near.onReadable = echo
        far.onReadable = echo
        near.startReading()
        far.startReading()
        #expect(near.send([7]))
        rest()
        #expect(rounds == 1_000 && deepest == 1)
    }

    // MARK: the end of one direction

    @Test func oneDirectionEndsWithoutTheOther() {
        near.startReading()
        far.startReading()
        #expect(near.send(Array("last".utf8)))
        near.finishWriting()
        rest()
        #expect(far.received == Array("last".utf8) && far.told == ["end"])
        #expect(far.send(Array("but heard".utf8)))
        rest()
        #expect(near.received == Array("but heard".utf8) && near.told.isEmpty)
        far.finishWriting()
        rest()
        #expect(near.told == ["end"])
    }

    @Test func theEndComesBehindWhatIsQueued() {
        let bytes = Self.pattern(1 << 20)
        #expect(near.send(bytes))
        near.finishWriting()
        far.startReading()
        rest()
        #expect(far.received == bytes && far.told == ["end"])
    }

    @Test func whoeverShutsDownLeavesNobodyWaiting() {
        near.startReading()
        #expect(far.send([1]))
        #expect(near.send([2]))
        near.shutDown()
        #expect(!near.send([3]) && !far.send([4]), "nothing goes in either direction")
        far.startReading()
        rest()
        #expect(near.received == [1] && near.told == ["end"])
        #expect(far.received == [2] && far.told == ["end"])
    }

    // MARK: the end of both

    @Test func aCloseIsTheEndOfWhatCameBefore() {
        far.startReading()
        #expect(near.send([1]))
        near.close()
        #expect(far.hasHungUp && !far.hasFailed)
        rest()
        #expect(far.received == [1] && far.told == ["end"])
        #expect(!far.send([1]))
        #expect(far.queuedBytes == 0 && far.untakenBytes == 0)
    }

    @Test func whoHasSaidThatItEndsIsHeardToThatEnd() {
        let bytes = Self.pattern(1 << 20)
        #expect(near.send(bytes))
        near.finishWriting()
        near.close()
        far.startReading()
        rest()
        #expect(far.received == bytes && far.told == ["end"])
    }

    @Test func aResetTakesAlongWhatIsQueued() {
        #expect(near.send(Self.pattern(1 << 20)))
        near.finishWriting()
        near.reset()
        far.startReading()
        rest()
        #expect(far.received.count == Self.bound && far.told == ["failed"])
    }

    @Test func aResetIsNoEnd() {
        #expect(near.send([1]))
        near.reset()
        #expect(far.hasFailed && far.hasHungUp, "also where nobody reads")
        far.startReading()
        rest()
        #expect(far.received == [1] && far.told == ["failed"])
        #expect(far.failure?.code == ECONNRESET)
    }

    @Test func aResetBehindAnEndIsTold() {
        near.finishWriting()
        far.startReading()
        rest()
        near.reset()
        #expect(far.told == ["end"] && far.hasFailed)
    }

    @Test func whatIsClosedUnreadIsReset() {
        #expect(far.send([1]))
        near.close()
        far.startReading()
        rest()
        #expect(far.told == ["failed"] && far.hasFailed)
    }

    @Test func whatIsQueuedForSomebodyWhoIsGoneIsLost() {
        #expect(far.send(Self.pattern(1 << 20)))
        near.close()
        rest()
        #expect(far.told == ["writeFailed"] && far.queuedBytes == 0)
        #expect(far.failure?.code == EPIPE)
    }

    @Test func nothingIsToldToWhoIsClosed() {
        near.startReading()
        far.startReading()
        #expect(near.send([1]) && far.send([2]))
        near.finishWriting()
        far.close()
        #expect(!far.send([3]) && !far.holdsUnread && !far.hasHungUp)
        rest()
        #expect(far.received.isEmpty && far.told.isEmpty)
        #expect(near.received == [2] && near.told == ["failed"], "what it had said was lost")
    }

    @Test(arguments: [true, false])
    func whoIsClosedInACallIsNotToldAgain(_ closesItself: Bool) {
        let bytes = Self.pattern(1 << 20)
        #expect(near.send(bytes))
        far.startReading()
        let (near, far) = (near, far)
        far.onReadable = { _ in if closesItself { far.close() } else { near.close() } }
        rest()
        far.onReadable = { _ in }
        if closesItself {
            #expect(far.received == Array(bytes[..<Self.bound]) && far.told.isEmpty)
            #expect(near.told == ["writeFailed"])
        } else {
            #expect(far.received == Array(bytes[..<Self.bound]) && far.told == ["end"])
            #expect(near.told.isEmpty && near.queuedBytes == 0)
        }
    }

    @Test func closingInsideACallbackOutlivesIt() throws {
        let ends = MemoryEnd.pair()
        var probe: Probe? = Probe(loop: loop, end: ends.near)
        let other = Probe(loop: loop, end: ends.far)
        weak let seen = probe
        probe?.startReading()
        probe?.onReadable = { one in
            // the last reference of all goes here
            probe = nil
            one.close()
            #expect(one.isClosed && !one.isReading)
        }
        #expect(other.send([1]))
        rest()
        #expect(seen == nil)
    }

    // MARK: lives

    @Test func whoIsLetGoOfUnclosedIsGone() throws {
        let ends = MemoryEnd.pair()
        var probe: Probe? = Probe(loop: loop, end: ends.near)
        let other = Probe(loop: loop, end: ends.far)
        other.startReading()
        #expect(probe?.send([1]) == true)
        probe = nil
        rest()
        #expect(other.received == [1] && other.told == ["end"])
    }

    /// The loop and those it is to tell something would hold each other for ever.
    @Test func nobodyIsLeftOnALoopThatTurnsNoMore() throws {
        var loop: Loop? = try Loop()
        weak let seenLoop = loop
        weak var seen: Probe?
        do {
            let ends = MemoryEnd.pair()
            let near = Probe(loop: try #require(loop), end: ends.near)
            let far = Probe(loop: try #require(loop), end: ends.far)
            far.startReading()
            #expect(near.send([1]))
            near.close()
            seen = far
        }
        #expect(seen != nil)
        loop?.releaseClosed()
        loop = nil
        #expect(seen == nil && seenLoop == nil)
    }

    @Test func whereNobodyIsNothingIsHeard() {
        let alone = Probe(loop: loop, end: MemoryEnd.pair().near)
        alone.startReading()
        #expect(alone.send(Self.pattern(1 << 20)))
        rest()
        #expect(alone.received.isEmpty && alone.told.isEmpty)
        #expect(alone.queuedBytes == (1 << 20) - Self.bound)
        alone.close()
    }

    @Test func theKernelPassesNothingOn() throws {
        let pair = try Pair(loop)
        #expect(near.send([1]))
        guard case nil = far.pass(to: pair.channel, atMost: Channel.maxPassed) else {
            return _ = Issue.record("there is no descriptor")
        }
        pair.say("x")
        guard case nil = pair.channel.pass(to: far, atMost: Channel.maxPassed) else {
            return _ = Issue.record("there is no descriptor")
        }
        #expect(near.localAddress == nil && near.isWithinLoop && !pair.channel.isWithinLoop)
        near.acknowledge()
    }
}
