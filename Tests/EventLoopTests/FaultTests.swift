@testable import Names

#if DEBUG
    import Glibc
    import Testing

    @testable import EventLoop

    struct FaultTests {
        let loop: Loop

        init() throws { loop = try Loop() }

        @Test func aListenerWithoutDescriptorsPausesInsteadOfSpinning() throws {
            let plan = FaultPlan(.accept, number: 1, code: EMFILE)
            loop.faults = plan
            let door = try Door(loop: loop, listening: try ListeningSocket(loopback).take())
            let number = try Dialer.connect(try #require(door.localAddress), on: loop).take().release()
            try loop.turn(until: { !door.failures.isEmpty })
            #expect(door.failures.map(\.code) == [EMFILE])
            #expect(plan.hasFired)
            // the connection still waits, and wakes nobody
            try loop.settle()
            #expect(door.accepted.isEmpty)
            #expect(door.failures.count == 1)
            door.resume()
            try loop.turn(until: { door.accepted.count == 1 })
            close(number)
            door.closeAll()
        }

        @Test func anAbortedConnectionDoesNotStopAListener() throws {
            loop.faults = FaultPlan(.accept, number: 1, code: ECONNABORTED)
            let door = try Door(loop: loop, listening: try ListeningSocket(loopback).take())
            let number = try Dialer.connect(try #require(door.localAddress), on: loop).take().release()
            try loop.turn(until: { door.accepted.count == 1 })
            #expect(door.failures.isEmpty)
            close(number)
            door.closeAll()
        }

        @Test func aSocketThatTheKernelDoesNotWatchIsReported() throws {
            let pair = try Pair(loop)
            let number = dup(pair.peer)
            loop.faults = FaultPlan(.eventAdd, number: 1, code: ENOSPC)
            let other = try Probe(loop: loop, descriptor: Descriptor(owning: number))
            other.startReading()
            // never from inside the call
            #expect(other.told.isEmpty)
            #expect(!other.isReading)
            loop.faults = nil
            try loop.settle()
            #expect(other.told == ["readingRefused"])
            other.close()
        }

        @Test func aQueueThatNothingCanEmptyIsAFailureToWrite() throws {
            let pair = try Pair(loop)
            loop.faults = FaultPlan(.eventAdd, number: 1, code: ENOSPC)
            let number = dup(pair.peer)
            _ = fcntl(number, F_SETFL, O_NONBLOCK)
            let other = try Probe(loop: loop, descriptor: Descriptor(owning: number))
            #expect(!other.send([UInt8](repeating: 7, count: 16 << 20)))
            #expect(other.queuedBytes == 0)
            other.close()
        }

        @Test func readingOutlastsInterruptionsAndReportsTheRest() throws {
            let pair = try Pair(loop)
            loop.faults = FaultPlan(.recv, number: 1, code: EINTR)
            pair.say("x")
            pair.channel.startReading()
            try loop.turn(until: { pair.channel.received == [0x78] })
            loop.faults = FaultPlan(.recv, number: 1, code: ECONNRESET)
            pair.say("y")
            try loop.turn(until: { pair.channel.told == ["failed"] })
            #expect(pair.channel.failure?.code == ECONNRESET)
        }

        @Test func aFailedSendIsFinalButReadingGoesOn() throws {
            let pair = try Pair(loop)
            pair.say("answer")
            loop.faults = FaultPlan(.send, number: 1, code: EPIPE)
            #expect(!pair.channel.send([1]))
            #expect(!pair.channel.send([2]))
            pair.channel.startReading()
            try loop.turn(until: { pair.channel.received == Array("answer".utf8) })
        }

        @Test(arguments: [FaultPlan.Call.socket, .connect])
        func dialingReportsWhatFailed(_ call: FaultPlan.Call) throws {
            loop.faults = FaultPlan(call, number: 1, code: EMFILE)
            let error = #expect(throws: SystemError.self) {
                _ = try Dialer.connect(SocketAddress(address: [127, 0, 0, 1], port: 9), on: loop)
            }
            #expect(error == SystemError(call.rawValue, code: EMFILE))
        }

        @Test(arguments: 1...5) func aNameServersSocketThatIsNotWatchedAtFirstIsWatchedLater(_ number: Int) throws {
            let server = try TestNameServer { _ in .records([.a(1)]) }
            // keeps the loop turning, whatever fails
            let pulse = try Timer(loop: loop, everyMilliseconds: 5) {}
            var answers: [NameAnswer] = []
            let hosts = try HostsFile.readAlready("/dev/null", on: loop)
            let service = try NameService(
                loop: loop, .init(servers: [server.authority], timeout: 3_000), hosts: hosts, changed: {},
                remarked: { _ in }
            ) { answers.append($0) }
            let plan = FaultPlan(.eventAdd, number: number, code: ENOMEM)
            loop.faults = plan
            service.ask("a.test")
            // the next who waits
            service.goOn()
            let limit = loop.refreshNow() + 10_000
            while answers.last?.isComplete != true, loop.refreshNow() < limit { loop.turn() }
            #expect(answers.flatMap(\.addresses).count == 1)
            pulse.cancel()
        }
    }
#endif
