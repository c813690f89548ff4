import Interceptors
import Testing

@testable import Scripts

@Suite struct ScriptReplyTests {
    private let request = Request(
        method: "POST", url: "https://am.test/am?a=1", headers: ["Host": "am.test"], body: Array("x".utf8),
        state: ["k": "v"])

    private func answer(_ text: String, _ message: ScriptQuestion.Message? = nil) throws -> ScriptAnswer {
        let question = ScriptQuestion(
            interceptor: "sdk", action: Action(type: .logout), message: message ?? .request(request))
        return try ScriptReply(Array(text.utf8)[...]).answer(to: question) { Array("filed".utf8) }
    }

    private var responding: ScriptQuestion.Message { .response(Response(status: 401, state: ["k": "v"]), to: request) }

    @Test func aQuestionHasAllParts() {
        let action = Action(type: .authenticate, payload: .init(tree: "Login", type: "service"), realm: "/alpha")
        let frame = ScriptQuestion(interceptor: "s\"k", action: action, message: .request(request)).frame(id: 7)
        let text = String(decoding: frame, as: UTF8.self)
        #expect(
            text.split(separator: "\n").last
                == #"{"id":7,"phase":"request","interceptor":"s\"k","action":{"type":"AUTHENTICATE","payload":{"tree":"Login","type":"service"},"realm":"/alpha"},"request":{"method":"POST","url":"https://am.test/am?a=1","headers":[["Host","am.test"]],"body":"eA=="},"state":{"k":"v"}}"#
        )
    }

    @Test func theIdAloneChangesNothing() throws {
        guard case .unchanged = try answer(#"{"id":1}"#) else { return #expect(Bool(false)) }
    }

    @Test func partsReplaceParts() throws {
        let text =
            #"{"id":1,"request":{"method":"PUT","headers":[["A","1"],["A","2"]],"body":"eXk="},"state":{"n":"1"}}"#
        guard case .request(let new) = try answer(text) else { return #expect(Bool(false)) }
        #expect(new.method == "PUT" && new.url == request.url && new.headers.values("a") == ["1", "2"])
        #expect(new.body == Array("yy".utf8) && new.state == ["n": "1"])
    }

    @Test(arguments: [512, 513])
    func headersHaveUpTo512Lines(_ count: Int) throws {
        let lines = (0..<count).map { #"["X-\#($0)","1"]"# }.joined(separator: ",")
        let answer = try answer(#"{"id":1,"request":{"headers":[\#(lines)]}}"#)
        switch answer {
        case .request(let new): #expect(count == 512 && new.headers.fields.count == 512)
        case .failed(let words): #expect(count == 513 && words.contains("more than 512 lines"))
        default: #expect(Bool(false))
        }
    }

    @Test(arguments: ["request", "respond"])
    func aBodyComesFromTheFileOfItsQuestion(_ outcome: String) throws {
        let body =
            switch try answer(#"{"id":1,"\#(outcome)":{"file":"1"}}"#) {
            case .request(let request): request.body
            case .verdict(.respond(let response)): response.body
            default: nil as [UInt8]?
            }
        #expect(body == Array("filed".utf8))
    }

    @Test func aQuestionNamesItsFile() {
        let frame = ScriptQuestion(interceptor: "s", action: Action(type: .none), message: .request(request))
            .frame(id: 7, file: "7")
        let text = String(decoding: frame, as: UTF8.self)
        #expect(text.contains(#""file":"7"}"#) && !text.contains("body"))
    }

    @Test func aRetryStartsFromTheRequest() throws {
        let text = #"{"id":1,"retry":{"after":50,"request":{"url":"https://b.test/"}},"state":{"again":"1"}}"#
        guard case .verdict(.retry(let new?, let after)) = try answer(text, responding) else {
            return #expect(Bool(false))
        }
        #expect(new.url == "https://b.test/" && new.method == "POST" && new.state == ["again": "1"])
        #expect(after == .milliseconds(50))
    }

    @Test(arguments: [
        #"{"id":1,"requset":{}}"#, #"{"id":1,"request":{"method":1}}"#, #"{"id":1,"request":{"headers":[["a"]]}}"#,
        #"{"id":1,"request":{"body":"?"}}"#, #"{"id":1,"response":{}}"#, #"{"id":1,"retry":{}}"#,
        #"{"id":1,"state":{"a":1}}"#,
        #"{"id":1,"request":{"file":"2"}}"#, #"{"id":1,"request":{"file":"../1"}}"#,
        #"{"id":1,"request":{"file":1}}"#, #"{"id":1,"respond":{"file":"1","body":"eA=="}}"#,
        #"{"id":1,"error":"no"}"#, #"{"id":1,"respond":{"status":"200"}}"#, #"{"id":1,"abort":"a","respond":{}}"#,
        #"{"id":1,"request":{"headers":["# + Array(repeating: #"["a","b"]"#, count: 513).joined(separator: ",") + "]}}",
        #"{"id":1,"respond":{"headers":[["a",""# + String(repeating: "b", count: 256 << 10) + #""]]}}"#,
    ])
    func aWrongAnswerFailsItsExchange(_ text: String) throws {
        guard case .failed(let words) = try answer(text) else { return #expect(Bool(false)) }
        #expect(!words.isEmpty)
    }

    @Test func aReasonIsReadAsItIsWritten() throws {
        guard case .verdict(.abort(let reason)) = try answer("{\"id\":1,\"abort\":\"a\\u0085b\\u202Ec\\u2028d\"}")
        else {
            return #expect(Bool(false))
        }
        #expect(reason == "a b c d")
    }

    @Test func theWordsOfACommandShowNoArguments() {
        var terms = ScriptTerms(.run(["node", "--token=x", "y"]))
        #expect(terms.words == "node")
        terms.origin = .run(["node", "a.mjs", "x"])
        terms.files = ["", "1 2", ""]
        #expect(terms.words == "node a.mjs")
    }

    @Test(arguments: ["", "[]", "{}", #"{"id":"1"}"#, "{\"id\":1", "null"])
    func whatIsNoAnswerBreaksTheConnection(_ text: String) {
        #expect(throws: FrameFault.self) { try ScriptReply(Array(text.utf8)[...]) }
    }

    @Test func aHelloIsComparedWithTheTerms() throws {
        let hello = try ScriptHello(
            Array(#"{"hello":{"protocol":1,"phases":["request","response"],"needs":"body"}}"#.utf8)[...])
        var terms = ScriptTerms(.run(["x"]))
        #expect(hello.lack(in: terms)?.contains("phases: [request, response]") == true)
        terms.phases = [.request, .response]
        #expect(hello.lack(in: terms)?.contains("needs: body") == true)
        terms.needs = .body
        #expect(hello.lack(in: terms) == nil)
    }

    @Test(arguments: [
        #"{"hello":{}}"#, #"{"hello":{"protocol":2}}"#, #"{"id":1}"#, #"{"hello":{"protocol":1,"phases":["error"]}}"#,
        #"{"hello":{"protocol":1,"phases":[]}}"#, #"{"hello":{"protocol":1,"phases":[1]}}"#,
        #"{"hello":{"protocol":1,"needs":5}}"#, #"{"hello":{"protocol":1,"needs":"all"}}"#,
        #"{"hello":{"protocol":1,"bodies":true}}"#, #"{"hello":{"protocol":1,"files":1}}"#,
    ])
    func aWrongHelloIsRefused(_ text: String) {
        #expect(throws: FrameFault.self) { try ScriptHello(Array(text.utf8)[...]) }
    }
}
