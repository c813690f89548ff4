import EventLoop
import Foundation
import Journal
import Metrics
import Testing

@testable import Operation

@Suite("The journal on the disk")
struct JournalDiskTests {
    private let folder: TemporaryFolder
    private let words = Locked<[String]>([])
    private let calls = Locked(0)

    init() throws { folder = try TemporaryFolder() }

    private func disk(room: Int = 16 << 20, _ change: (inout JournalStore.DiskLimits) -> Void = { _ in }) throws
        -> JournalDisk
    {
        var limits = JournalStore.DiskLimits()
        change(&limits)
        let (words, calls) = (words, calls)
        return try JournalDisk(
            limits, StateDirectory(path: folder.file("state")), room: room,
            say: { line in words.signalAll { $0.append(line) } }, found: { calls.signalAll { $0 += 1 } })
    }

    private var said: [String] { words.withLock { $0 } }

    private func waits(for text: String) throws {
        try #require(
            words.wait(milliseconds: 10_000) { $0.contains { $0.contains(text) } ? true : nil } != nil,
            "\(text) was not said: \(said)")
    }

    private static func flow(_ sequence: Int, of client: String = "", bytes: Int = 0) throws -> PackedFlow {
        var packer = FlowPacker()
        packer.set(.id, 0x100 + sequence)
        packer.set(.sequence, sequence)
        packer.set(.began, Int(Date().timeIntervalSince1970 * 1000))
        packer.set(.client, client)
        packer.set(.method, "GET")
        packer.set(.request, String(repeating: "x", count: bytes))
        return try #require(PackedFlow(packer.finish()))
    }

    private static func counters(_ sequence: Int) -> JournalCounters {
        var counters = JournalCounters()
        counters.sequence = sequence
        return counters
    }

    private static func sequences(_ disk: JournalDisk) throws -> [Int] {
        let answer = Locked<[Int]?>(nil)
        let isTaken = disk.ask { shelf in
            var found: [Int] = []
            try? shelf?.newestFirst(before: .max) {
                found.append($0[.sequence])
                return true
            }
            answer.signal { $0 = found }
        }
        #expect(isTaken)
        return try #require(answer.wait(milliseconds: 10_000) { $0 })
    }

    @Test func anotherRunGoesOnBehindIt() throws {
        let first = try disk()
        #expect(first.awaitCounters() == JournalCounters())
        first.take([try Self.flow(9)], Self.counters(9))
        first.join()
        first.take([try Self.flow(1), try Self.flow(2)], Self.counters(2))
        #expect(try Self.sequences(first) == [2, 1], "nobody had said that numbers were known for the one before")
        #expect(first.figures.lost == 1 && first.figures.written == 2 && first.isOpen)
        first.close()
        #expect(try folder.mode("state/kept/journal.db") == 0o600)
        let second = try disk()
        #expect(second.awaitCounters() == Self.counters(2))
        second.join()
        #expect(try Self.sequences(second) == [2, 1])
        second.close()
        #expect(said == [] && calls.withLock { $0 } == 0)
    }

    @Test func oneProcessAtATimeKeepsIt() throws {
        let first = try disk()
        _ = first.awaitCounters()
        first.join()
        let second = try disk()
        #expect(second.awaitCounters() == nil && !second.isOpen)
        try waits(for: "another usher uses")
        first.take([try Self.flow(1)], Self.counters(1))
        first.close()
        try waits(for: "the journal is on disk again")
        #expect(calls.wait(milliseconds: 10_000) { $0 == 1 ? true : nil } == true, "it is told late, and once")
        #expect(second.awaitCounters() == Self.counters(1))
        second.close()
        #expect(said.count == 2)
    }

    @Test func whoMakesRoomInVainGoesOnAsIfNothingHadBeen() throws {
        let first = try disk()
        _ = first.awaitCounters()
        first.join()
        first.take([try Self.flow(1)], Self.counters(1))
        first.rest()
        // it has to let go before another one can have it
        let second = try disk()
        #expect(second.awaitCounters() == Self.counters(1))
        second.close()
        first.take([try Self.flow(2)], Self.counters(2))
        first.goOn()
        first.take([try Self.flow(3)], Self.counters(3))
        #expect(try Self.sequences(first) == [3, 2, 1])
        first.close()
        #expect(said == [] && calls.withLock { $0 } == 0 && first.figures.lost == 0)
    }

    @Test func whoMakesRoomForOneThatWritesBeginsBehindIt() throws {
        let first = try disk()
        _ = first.awaitCounters()
        first.join()
        first.rest()
        let second = try disk()
        #expect(second.awaitCounters() == JournalCounters())
        first.take([try Self.flow(1)], Self.counters(1))
        second.join()
        second.take([try Self.flow(1)], Self.counters(1))
        second.close()
        first.goOn()
        #expect(calls.wait(milliseconds: 10_000) { $0 == 1 ? true : nil } == true)
        #expect(first.awaitCounters() == Self.counters(1))
        first.join()
        first.take([try Self.flow(2)], Self.counters(2))
        #expect(try Self.sequences(first) == [2, 1] && first.figures.lost == 1)
        first.close()
    }

    @Test func whatIsNoJournalIsPutAside() throws {
        try FileManager.default.createDirectory(
            atPath: folder.file("state/kept"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try folder.setMode("state", 0o700)
        try folder.write("state/kept/journal.db", String(repeating: "no journal ", count: 999), mode: 0o600)
        let disk = try disk()
        #expect(disk.awaitCounters() == JournalCounters())
        disk.join()
        disk.take([try Self.flow(1)], Self.counters(1))
        #expect(try Self.sequences(disk) == [1])
        disk.close()
        #expect(said.count == 2 && said.allSatisfy { $0.contains("journal.db") }, "\(said)")
        #expect(try folder.read("state/kept/journal.db.old").starts(with: "no journal ".utf8))
    }

    @Test func aPlaceThatCannotBeHadCostsALine() throws {
        try folder.write("state", "a file")
        let disk = try disk()
        #expect(disk.awaitCounters() == nil)
        disk.take([try Self.flow(1)], Self.counters(1))
        #expect(said.count == 1 && said[0].contains("only in memory for now"))
        try FileManager.default.removeItem(atPath: folder.file("state"))
        try waits(for: "on disk again")
        #expect(disk.awaitCounters() == JournalCounters())
        disk.join()
        disk.take([try Self.flow(2)], Self.counters(2))
        #expect(try Self.sequences(disk) == [2] && disk.figures.lost == 1)
        disk.close()
    }

    @Test func whatIsTooOldGoes() throws {
        let disk = try disk { $0.age = 60_000 }
        _ = disk.awaitCounters()
        disk.join()
        var packer = FlowPacker()
        packer.set(.sequence, 1)
        packer.set(.began, 1_000)
        disk.take([try #require(PackedFlow(packer.finish())), try Self.flow(2)], Self.counters(2))
        // what is asked is answered behind the removal
        #expect(try Self.sequences(disk) == [2])
        disk.close()
    }

    private static func rest(_ disk: JournalDisk) throws {
        disk.rest()
        // what is asked behind that is answered once it rests, and then no more flows are
        for _ in 0..<2 { _ = try sequences(disk) }
    }

    /// While the disk takes nothing.
    @Test func whatWaitsForTheDiskIsShared() throws {
        let disk = try disk(room: 64 << 10)
        _ = disk.awaitCounters()
        disk.join()
        var last = 0
        func take(_ client: String, _ count: Int, secrets: Int = 0) throws {
            var flows: [PackedFlow] = []
            for _ in 0..<count {
                last += 1
                flows.append(try Self.flow(last, of: "\(client):\(last)", bytes: 1_000))
            }
            let met = (0..<secrets).map { number -> SealedSecrets.Sealed in
                (SecretAlias(.token, UInt32(last * 10 + number)), [UInt8](repeating: 1, count: 4_000))
            }
            disk.take(flows, Self.counters(last), met)
        }
        for round in 1...3 {
            try Self.rest(disk)
            let before = disk.figures.lost
            let first = last + 1
            // each by itself, until there is no room but for others
            for _ in 0..<100 { try take("192.0.2.1", 1) }
            let lost = disk.figures.lost - before
            #expect(lost > 50 && lost < 70, "\(lost) in round \(round)")
            let others = last + 1
            try take("192.0.2.2", 4)
            // secrets come along as far as they leave room for flows
            try take("192.0.2.3", 4, secrets: 9)
            try take("192.0.2.4", 1)
            #expect(disk.figures.lost - before == lost, "the others have room")
            try take("192.0.2.1", 1)
            #expect(disk.figures.lost - before == lost + 1)
            disk.goOn()
            let found = try Self.sequences(disk)
            #expect(Array(others..<last).allSatisfy(found.contains), "round \(round)")
            #expect(found.filter { $0 >= first }.count == 100 + 9 - Int(lost))
        }
        // whoever had more than its share has one again once that is written
        try Self.rest(disk)
        var before = disk.figures.lost
        for _ in 0..<100 { try take("192.0.2.9", 1) }
        let lost = disk.figures.lost - before
        try take("192.0.2.1", 4)
        #expect(disk.figures.lost - before == lost)
        disk.goOn()
        _ = try Self.sequences(disk)
        try Self.rest(disk)
        before = disk.figures.lost
        for number in 0..<200 { try take("198.51.100.\(number)", 1, secrets: 1) }
        #expect(disk.figures.lost - before > 200 - 64 && disk.figures.lost - before < 200 - 10)
        disk.goOn()
        disk.close()
    }
}
