import Authorization
import EventLoop
import Foundation
import Testing

@testable import Operation

/// What is kept over restarts while the disk does not take it, or takes its time.
@Suite("What is kept over restarts, and a disk that fails")
struct StateKeeperTroubleTests {
    private let folder: TemporaryFolder
    private let words = Locked<[String]>([])
    private static let first = StateKey(.counters, "first")
    private static let second = StateKey(.tokens, "second")

    init() throws { folder = try TemporaryFolder() }

    private func keeper() throws -> StateKeeper {
        let words = words
        return StateKeeper(StateDirectory(path: folder.file("state"))) { line in
            words.signalAll { $0.append(line) }
        }
    }

    private func waits(for text: String) throws {
        try #require(
            words.wait(milliseconds: 10_000) { $0.contains { $0.contains(text) } ? true : nil } != nil,
            "\(text) was not said")
    }

    /// Neither what could not be written nor what came meanwhile.
    @Test func aWhileOfTroubleLosesNothing() throws {
        try folder.write("state", "a file in its place")
        let keeper = try keeper()
        keeper.set(Self.first, [1])
        keeper.set(Self.second, [2])
        try waits(for: "only in memory for now")
        keeper.set(Self.first, [3])
        #expect(keeper.value(of: Self.first) == [3] && keeper.value(of: Self.second) == [2])
        try FileManager.default.removeItem(atPath: folder.file("state"))
        // what failed is tried again, at the end at the latest
        keeper.close()
        try waits(for: "on disk again")
        let next = try self.keeper()
        #expect(next.value(of: Self.first) == [3] && next.value(of: Self.second) == [2])
        next.close()
        #expect(words.withLock { $0.count } == 2)
    }

    /// A document that comes while others are written is there all the time.
    @Test func whatComesMeanwhileIsThereAtOnce() throws {
        let keeper = try keeper()
        for number in 0..<100 {
            let (one, other) = (StateKey(.counters, "a\(number)"), StateKey(.counters, "b\(number)"))
            keeper.set(one, [1])
            keeper.set(other, [2])
            for _ in 0..<200 { try #require(keeper.value(of: other) == [2], "\(number)") }
        }
        keeper.close()
        let next = try self.keeper()
        #expect(next.documents(in: .counters).count == 200)
        next.close()
    }
}
