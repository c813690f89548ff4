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

    private func disk(_ change: (inout JournalStore.DiskLimits) -> Void = { _ in }) throws -> JournalDisk {
        var limits = JournalStore.DiskLimits()
        change(&limits)
        let (words, calls) = (words, calls)
        return try JournalDisk(
            limits, StateDirectory(path: folder.file("state")),
            say: { line in words.signalAll { $0.append(line) } }, found: { calls.signalAll { $0 += 1 } })
    }

    private var said: [String] { words.withLock { $0 } }

    private func waits(for text: String) throws {
        try #require(
            words.wait(milliseconds: 10_000) { $0.contains { $0.contains(text) } ? true : nil } != nil,
            "\(text) was not said: \(said)")
    }

    private static func flow(_ sequence: Int) throws -> PackedFlow {
        var packer = FlowPacker()
        packer.set(.id, 0x100 + sequence)
        packer.set(.sequence, sequence)
        packer.set(.began, Int(Date().timeIntervalSince1970 * 1000))
        packer.set(.method, "GET")
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
        try waits(for: "another usher keeps its own in")
        first.take([try Self.flow(1)], Self.counters(1))
        first.close()
        try waits(for: "the journal is on the disk again")
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
        #expect(said.count == 1 && said[0].contains("in memory alone for now"))
        try FileManager.default.removeItem(atPath: folder.file("state"))
        try waits(for: "on the disk again")
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
}
