import EventLoop
import Glibc
import Testing

struct ChannelTests {
    let loop: Loop

    init() throws { loop = try Loop() }

    private static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    }

    @Test func bytesAndTheEndArrive() throws {
        let pair = try Pair(loop)
        pair.channel.startReading()
        pair.say("hello")
        try loop.turn(until: { pair.channel.received == Array("hello".utf8) })
        shutdown(pair.peer, Int32(SHUT_WR))
        try loop.turn(until: { pair.channel.told == ["end"] })
        #expect(!pair.channel.isReading)
    }

    @Test func bytesThatComeWithTheEndArriveFirst() throws {
        let pair = try Pair(loop)
        pair.say("last words")
        shutdown(pair.peer, Int32(SHUT_WR))
        pair.channel.startReading()
        try loop.turn(until: { pair.channel.told == ["end"] })
        #expect(pair.channel.received == Array("last words".utf8))
    }

    @Test func whatTheKernelDoesNotTakeIsQueuedAndGoesOutInOrder() throws {
        let pair = try Pair(loop)
        let bytes = Self.pattern(2 << 20)
        #expect(pair.channel.send(Array(bytes[..<(1 << 20)])))
        #expect(pair.channel.send(Array(bytes[(1 << 20)...])))
        #expect(pair.channel.queuedBytes > 0)
        var heard: [UInt8] = []
        try loop.turn(until: {
            heard += pair.hear() ?? []
            return heard.count == bytes.count
        })
        #expect(heard == bytes)
        try loop.turn(until: { pair.channel.told == ["drained"] })
        #expect(pair.channel.queuedBytes == 0)
    }

    @Test func whoeverShutsDownLeavesNobodyWaiting() throws {
        let pair = try Pair(loop)
        pair.channel.shutDown()
        #expect(!pair.channel.send([1]), "nothing goes out any more")
        try loop.turn(until: { pair.hear() == nil })
    }

    @Test func finishingWaitsForTheQueue() throws {
        let pair = try Pair(loop)
        let bytes = Self.pattern(2 << 20)
        #expect(pair.channel.send(bytes))
        pair.channel.finishWriting()
        var heard: [UInt8] = []
        var isAtEnd = false
        try loop.turn(until: {
            if let more = pair.hear() { heard += more } else { isAtEnd = true }
            return isAtEnd
        })
        #expect(heard == bytes)
    }

    @Test func aChannelThatDoesNotReadIsNotWoken() throws {
        let pair = try Pair(loop)
        pair.channel.startReading()
        pair.say("one")
        try loop.turn(until: { pair.channel.received.count == 3 })
        pair.channel.stopReading()
        pair.say("two")
        try loop.settle()
        #expect(pair.channel.received.count == 3)
        pair.channel.startReading()
        try loop.turn(until: { pair.channel.received == Array("onetwo".utf8) })
    }

    @Test func closingInsideACallbackOutlivesIt() throws {
        var pair: Pair? = try Pair(loop)
        weak let channel = pair?.channel
        pair?.channel.startReading()
        pair?.channel.onReadable = { probe in
            // the last reference of all goes here
            pair = nil
            probe.close()
            #expect(probe.isClosed)
            #expect(!probe.send([1]))
            #expect(!probe.isReading)
        }
        pair?.say("x")
        try loop.turn(until: { channel == nil })
    }

    @Test(arguments: ["progressed", "drained"])
    func closingWhileItWritesTouchesNoOtherSocket(_ moment: String) throws {
        let pair = try Pair(loop)
        let bystander = try Pair(loop)
        _ = pair.channel.send([UInt8](repeating: 7, count: 2 << 20))
        pair.channel.finishWriting()
        var reused: [Int32] = []
        let close: (Probe) -> Void = { probe in
            guard !probe.isClosed else { return }
            probe.close()
            // takes the number that has just become free
            reused.append(dup(bystander.peer))
        }
        if moment == "progressed" { pair.channel.onProgressed = close } else { pair.channel.onDrained = close }
        try loop.turn(until: {
            _ = pair.hear()
            return pair.channel.isClosed
        })
        #expect(pair.channel.queuedBytes == 0)
        // the bystander can still speak
        bystander.say("here")
        bystander.channel.startReading()
        try loop.turn(until: { bystander.channel.received == Array("here".utf8) })
        #expect(bystander.channel.told.isEmpty)
        for number in reused { Glibc.close(number) }
    }

    @Test func aResetIsSeenAsOne() throws {
        let pair = try Pair(loop)
        pair.channel.reset()
        var byte: UInt8 = 0
        #expect(recv(pair.peer, &byte, 1, 0) == -1)
        #expect(errno == ECONNRESET)
    }

    @Test func nothingIsQueuedForAPeerThatHasGone() throws {
        let pair = try Pair(loop)
        _ = pair.channel.send([UInt8](repeating: 7, count: 2 << 20))
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(pair.peer, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        // closes with a reset, and gives the pair another descriptor to close
        #expect(dup2(2, pair.peer) == pair.peer)
        try loop.turn(until: { pair.channel.told == ["writeFailed"] })
        #expect(pair.channel.queuedBytes == 0)
        #expect(!pair.channel.send([1]))
        #expect(pair.channel.queuedBytes == 0)
    }

    @Test func aConnectionIsMadeAndWhatWasWrittenBeforeFollows() throws {
        let door = try Door(loop: loop, listening: try ListeningSocket(loopback).take())
        let address = try #require(door.localAddress)
        let attempt = try Dialer.connect(address, on: loop)
        let connecting = attempt.inProgress
        let channel = try Probe(loop: loop, descriptor: attempt.take(), connecting: connecting)
        #expect(channel.send(Array("early".utf8)))
        try loop.turn(until: { channel.told == ["connected", "drained"] && !door.accepted.isEmpty })
        let other = try Probe(loop: loop, descriptor: Descriptor(owning: try #require(door.accepted.first)))
        other.startReading()
        try loop.turn(until: { other.received == Array("early".utf8) })
        channel.close()
        other.close()
        door.close()
    }

    @Test func aRefusedConnectionSaysSo() throws {
        let address: SocketAddress
        do {
            let socket = try ListeningSocket(loopback)
            address = socket.address
        }
        do {
            let attempt = try Dialer.connect(address, on: loop)
            let channel = try Probe(loop: loop, descriptor: attempt.take(), connecting: true)
            try loop.turn(until: { channel.told == ["refused"] })
            #expect(channel.failure?.code == ECONNREFUSED)
            channel.close()
        } catch let error as SystemError {
            #expect(error.code == ECONNREFUSED)
        }
    }
}
