import Control
import Formats
import Testing

@Suite("Events on their way to a follower")
struct FeedQueueTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    private let event = ServerEvent("flow", id: "7", data: ["a": "x\ny"])

    @Test func anEventIsItsLines() {
        #expect(text(event.bytes) == "event: flow\nid: 7\ndata: {\"a\":\"x\\ny\"}\n\n")
        #expect(text(ServerEvent(data: .null).bytes) == "data: null\n\n")
        #expect(text(ServerEvent("a\ndata: b", id: "\r1", data: .null).bytes) == "event: a\nid: \ndata: null\n\n")
    }

    @Test func whoSendsIsWokenOnce() {
        var queue = FeedQueue()
        let wakes = [queue.add(event), queue.add(event)]
        #expect(wakes == [true, false])
        let taken = [queue.take(), queue.take()]
        #expect(taken == [event.bytes + event.bytes, []])
        let again = queue.add(event)
        #expect(again)
    }

    @Test func whatFindsNoRoomIsCounted() {
        var queue = FeedQueue(most: event.bytes.count * 2)
        for _ in 0..<5 { _ = queue.add(event) }
        let first = queue.take()
        #expect(text(first) == text(event.bytes + event.bytes) + "event: lost\ndata: {\"count\":3}\n\n")
        // what was taken still waits for the client
        _ = queue.add(event)
        let second = queue.take()
        #expect(text(second) == "event: lost\ndata: {\"count\":1}\n\n")
        queue.sent()
        _ = queue.add(event)
        let third = queue.take()
        #expect(third == event.bytes)
    }

    /// There is one gap, and it stands where the count is: what would fit behind a lost event is lost as well.
    @Test func whatFollowsALostEventIsPartOfTheGap() {
        var queue = FeedQueue(most: event.bytes.count * 2)
        let large = ServerEvent("flow", data: .string(String(repeating: "x", count: event.bytes.count * 2)))
        for event in [event, large, event] { _ = queue.add(event) }
        let taken = queue.take()
        #expect(text(taken) == text(event.bytes) + "event: lost\ndata: {\"count\":2}\n\n")
    }

    /// A list of all step-ups may be larger than the limit.
    @Test func anEventBeyondTheLimitGoesAlone() {
        var queue = FeedQueue(most: 4)
        let wakes = [queue.add(event), queue.add(event)]
        let taken = queue.take()
        #expect(wakes == [true, false] && text(taken) == text(event.bytes) + "event: lost\ndata: {\"count\":1}\n\n")
    }

    @Test func nothingFollowsTheEnd() {
        var queue = FeedQueue()
        let early = [queue.add(event), queue.end()]
        let late = [queue.add(event), queue.end()]
        let taken = queue.take()
        #expect(early == [true, true] && late == [false, false] && queue.isOver && taken == event.bytes)
    }
}
