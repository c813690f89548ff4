import Interceptors
import Scripts
import Synchronization
import Testing

struct ScriptLineTests {
    /// A function that each question wraps anew needs more of the stack each time, until there is none left.
    @Test func aQuestionCostsTheSameAfterManyOthers() {
        let line = ScriptLine("a", ScriptTerms(.connect("/x")), at: .init(file: "a", line: 1, column: 1))
        line.connect { _, done in done(.unchanged) }
        let request = Request(method: "GET", url: "http://h/", headers: Headers())
        let question = ScriptQuestion(interceptor: "a", action: Action(type: .none), message: .request(request))
        let answers = Mutex(0)
        for _ in 0..<300_000 { line.ask(question) { _ in answers.withLock { $0 += 1 } } }
        #expect(answers.withLock { $0 } == 300_000)
    }
}
