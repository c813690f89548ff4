import EventLoop
import Journal
import Testing

@testable import Operation

@Suite("Who asks the journal")
struct JournalThreadTests {
    @Test func noMoreWaitThanThereIsRoomFor() throws {
        let folder = try TemporaryFolder()
        let journal = try JournalThread(
            JournalStore.Settings(), StateDirectory(path: folder.file("state")), key: nil)
        let (isBusy, mayGoOn) = (Locked(false), Locked(false))
        let answered = Locked(0)
        #expect(
            journal.ask { _ in
                isBusy.signal { $0 = true }
                _ = mayGoOn.wait(milliseconds: 10_000) { $0 ? true : nil }
            })
        try #require(isBusy.wait(milliseconds: 10_000) { $0 ? true : nil } != nil)
        for _ in 0..<64 { #expect(journal.ask { _ in answered.signal { $0 += 1 } }) }
        #expect(!journal.ask { _ in answered.signal { $0 += 1 } })
        mayGoOn.signal { $0 = true }
        #expect(answered.wait(milliseconds: 10_000) { $0 == 64 ? true : nil } == true)
        #expect(journal.ask { _ in }, "there is room again")
        journal.close()
    }
}
