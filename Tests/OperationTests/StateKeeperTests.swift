import Authorization
import EventLoop
import Foundation
import Testing

@testable import Operation

@Suite("What is kept over restarts")
struct StateKeeperTests {
    private let folder: TemporaryFolder
    private let words = Locked<[String]>([])

    init() throws { folder = try TemporaryFolder() }

    private func keeper() throws -> StateKeeper {
        let words = words
        return StateKeeper(StateDirectory(path: folder.file("state"))) { line in words.withLock { $0.append(line) }
        }
    }

    private var said: [String] { words.withLock { $0 } }
    private static let key = StateKey(.counters, "robot")

    @Test func aRestartFindsIt() throws {
        let first = try keeper()
        #expect(first.value(of: Self.key) == nil)
        #expect(first.set(Self.key, [1, 2, 3]))
        #expect(first.set(StateKey(.devices, "robot"), [4]))
        first.remove(StateKey(.devices, "robot"))
        #expect(first.change(Self.key) { $0?.append(4) })
        first.close()
        let second = try keeper()
        #expect(second.value(of: Self.key) == [1, 2, 3, 4])
        #expect(second.documents(in: .counters) == ["robot": [1, 2, 3, 4]])
        #expect(second.documents(in: .devices).isEmpty)
        second.close()
        #expect(said == [])
    }

    @Test func itsOwnerAloneReadsIt() throws {
        let keeper = try keeper()
        keeper.set(Self.key, [1])
        keeper.close()
        #expect(try folder.mode("state/kept") == 0o700)
        #expect(try folder.mode("state/kept/counters.json") == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.file("state/kept")).sorted() == [
                "counters.json", "lock",
            ])
    }

    @Test func nothingIsMadeWhereNothingIsKept() throws {
        try keeper().close()
        #expect(try folder.names == [])
    }

    @Test func whatOthersCouldReadIsNotTaken() throws {
        let first = try keeper()
        first.set(Self.key, [1])
        first.close()
        try folder.setMode("state/kept/counters.json", 0o644)
        let second = try keeper()
        #expect(second.value(of: Self.key) == nil)
        #expect(said.count == 1 && said[0].contains("chmod 600"))
        second.close()
    }

    @Test func whatIsDamagedIsPutAside() throws {
        let first = try keeper()
        first.set(Self.key, [1])
        first.close()
        try folder.write("state/kept/counters.json", "{", mode: 0o600)
        let second = try keeper()
        #expect(said.count == 1 && said[0].contains("counters.json is not JSON"))
        second.set(Self.key, [2])
        second.close()
        #expect(try folder.read("state/kept/counters.json.damaged") == Array("{".utf8))
        let third = try keeper()
        #expect(third.value(of: Self.key) == [2])
        third.close()
    }

    @Test func aFolderThatCannotBeWrittenIsSaidOnce() throws {
        try folder.write("state", "a file in its place")
        let keeper = try keeper()
        #expect(keeper.set(Self.key, [1]))
        #expect(keeper.value(of: Self.key) == [1])
        keeper.close()
        #expect(said.count == 1 && said[0].contains("only in memory for now"), "\(said)")
    }

    @Test func twoProcessesKeepBoth() throws {
        let (first, second) = (try keeper(), try keeper())
        first.set(StateKey(.tokens, "first"), [1])
        first.set(Self.key, [1])
        first.close()
        second.set(StateKey(.tokens, "second"), [2])
        second.close()
        let third = try keeper()
        #expect(third.documents(in: .tokens) == ["first": [1], "second": [2]])
        #expect(third.value(of: Self.key) == [1])
        third.close()
    }

    /// What was told by one process is told by no other: the file's counter is the highest of both.
    @Test func countersOfTwoProcessesGoForwardAlone() throws {
        func bytes(_ counter: Int) -> [UInt8] { Array(String(counter).utf8) }
        let before = try keeper()
        before.set(Self.key, bytes(5))
        before.close()
        let (first, second) = (try keeper(), try keeper())
        first.set(Self.key, bytes(10))
        first.close()
        second.set(Self.key, bytes(6))
        second.close()
        #expect(second.value(of: Self.key) == bytes(10))
        let third = try keeper()
        #expect(third.value(of: Self.key) == bytes(10))
        third.close()
    }

    @Test(.timeLimit(.minutes(1))) func whatOthersWroteIsSeenBeforeACounterIsTaken() async throws {
        let (first, second) = (try keeper(), try keeper())
        #expect(second.isCurrent(.counters))
        first.set(Self.key, Array("10".utf8))
        first.close()
        #expect(!second.isCurrent(.counters))
        while !second.isCurrent(.counters) { await Task.yield() }
        #expect(second.value(of: Self.key) == Array("10".utf8))
        second.set(Self.key, Array("11".utf8))
        while !second.isCurrent(.counters) { await Task.yield() }
        second.close()
    }

    /// What cannot be read holds nobody up.
    @Test(.timeLimit(.minutes(1))) func whatCannotBeReadIsNotWaitedFor() async throws {
        let first = try keeper()
        first.set(Self.key, [1])
        first.close()
        let keeper = try keeper()
        try folder.write("state/kept/counters.json", "{", mode: 0o600)
        while !keeper.isCurrent(.counters) { await Task.yield() }
        keeper.close()
    }

    @Test(.timeLimit(.minutes(1))) func aReloadReadsWhatOthersChanged() async throws {
        let (first, second) = (try keeper(), try keeper())
        first.set(Self.key, [1])
        first.close()
        #expect(second.value(of: Self.key) == nil)
        second.reread()
        while second.value(of: Self.key) == nil { await Task.yield() }
        #expect(second.value(of: Self.key) == [1])
        second.close()
    }

    @Test func aSpaceThatIsFullIsSaidOnce() throws {
        let keeper = try keeper()
        let large = [UInt8](repeating: 0, count: StateDocuments.largest + 1)
        #expect(!keeper.set(Self.key, large))
        #expect(!keeper.set(Self.key, large))
        #expect(keeper.value(of: Self.key) == nil)
        #expect(said.count == 1 && said[0].contains("the limits are"))
        keeper.close()
    }
}
