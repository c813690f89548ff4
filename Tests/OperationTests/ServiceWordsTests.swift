import Testing

@testable import Operation

@Suite("What the service manager hears")
struct ServiceWordsTests {
    private final class Manager {
        var room = 0
        var heard: [String] = []

        func take(_ words: String) -> Bool {
            guard room > 0 else { return false }
            room -= 1
            heard.append(words)
            return true
        }
    }

    @Test("One that does not read hears it later, in order, and not all of it")
    func later() {
        let manager = Manager()
        var words = ServiceWords(manager.take)
        words.tell("1")
        manager.room = 1
        words.tell("2")
        #expect(manager.heard == ["1"])
        manager.room = 9
        words.tellRest()
        words.tellRest()
        #expect(manager.heard == ["1", "2"])
        manager.room = 0
        for number in 0...ServiceWords.most { words.tell("\(number)") }
        manager.room = 99
        words.tellRest()
        #expect(manager.heard.dropFirst(2) == (1...ServiceWords.most).map(String.init)[...])
    }
}
