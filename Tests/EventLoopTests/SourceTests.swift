import EventLoop
import Glibc
import Testing

struct SourceTests {
    let loop: Loop

    init() throws { loop = try Loop() }

    @Test func aLoopWithNothingToWaitForEnds() throws {
        loop.run()
        #expect(!loop.turn())
    }

    /// The loop and what was closed on it would hold each other for ever.
    @Test func whatIsClosedOnALoopThatTurnsNoMoreIsReleased() throws {
        var door: Door? = try Door(loop: loop, listening: try ListeningSocket(loopback).take())
        weak let seen = door
        door?.close()
        door = nil
        #expect(seen != nil)
        loop.releaseClosed()
        #expect(seen == nil)
    }

    @Test func aListenerTakesWhatComesAndPauses() throws {
        let door = try Door(loop: loop, listening: try ListeningSocket(loopback).take())
        let address = try #require(door.localAddress)
        var made: [Int32] = []
        for _ in 0..<3 { made.append(try Dialer.connect(address, on: loop).take().release()) }
        try loop.turn(until: { door.accepted.count == 3 })
        door.pause()
        made.append(try Dialer.connect(address, on: loop).take().release())
        try loop.settle()
        #expect(door.accepted.count == 3)
        door.resume()
        try loop.turn(until: { door.accepted.count == 4 })
        for number in made { close(number) }
        door.closeAll()
    }

    @Test func onlyWhatListensIsAdopted() throws {
        #expect(throws: SystemError.self) { _ = try ListeningSocket(adopting: -1) }
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let error = #expect(throws: SystemError.self) { _ = try ListeningSocket(adopting: number) }
        #expect(error?.code == EINVAL)
        close(number)
    }

    @Test func aTakenPortIsRefused() throws {
        let first = try ListeningSocket(loopback)
        let error = #expect(throws: SystemError.self) { _ = try ListeningSocket(first.address) }
        #expect(error?.code == EADDRINUSE)
        // two that both say so share one
        let shared = try ListeningSocket(loopback, shared: true)
        _ = try ListeningSocket(shared.address, shared: true)
    }

    @Test func lettersFromManyThreadsAllArriveInTheirOrder() throws {
        let box = try Mailbox<(thread: Int, number: Int)>()
        var messages: [Int: [Int]] = [:]
        var count = 0
        let port = try MailboxPort(loop: loop, box) { message in
            messages[message.thread, default: []].append(message.number)
            count += 1
        }
        let threads = try (0..<4).map { thread in
            try SystemThread(name: "writer") { for number in 0..<5000 { box.post((thread, number)) } }
        }
        try loop.turn(until: { count == 20_000 })
        for thread in threads { thread.join() }
        for thread in 0..<4 { #expect(messages[thread] == Array(0..<5000)) }
        withExtendedLifetime(port) {}
    }

    @Test func aLetterPostedBeforeThereIsAPortWakesTheLoop() throws {
        let box = try Mailbox<Int>()
        box.post(7)
        var got: [Int] = []
        let port = try MailboxPort(loop: loop, box) { got.append($0) }
        while got.isEmpty { loop.turn() }
        #expect(got == [7])
        withExtendedLifetime(port) {}
    }

    @Test func aTimerComesAgainUntilItIsCancelledFromInside() throws {
        var timer: Timer?
        var count = 0
        timer = try Timer(loop: loop, everyMilliseconds: 1) {
            count += 1
            if count == 3 {
                timer?.cancel()
                timer = nil
            }
        }
        while loop.turn(), timer != nil {}
        #expect(count == 3)
        // nothing is left to wait for
        #expect(!loop.turn())
    }

    @Test func aThreadThatDoesNotEndIsNotWaitedForForEver() throws {
        let gate = Locked(false)
        func thread() throws -> SystemThread { try SystemThread(name: "late") { _ = gate.wait { $0 ? true : nil } } }
        #expect(try !thread().join(withinMilliseconds: 20))
        gate.signalAll { $0 = true }
        #expect(try thread().join(withinMilliseconds: 10_000))
    }
}
