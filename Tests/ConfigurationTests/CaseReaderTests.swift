import Configuration
import Interception
import ProxyCore
import Testing

@Suite("Files of cases")
struct CaseReaderTests {
    private func read(_ text: String, files: [String: FileContent] = [:]) -> Result<CaseFile, ConfigurationFaults> {
        let source = ConfigurationSource(text: text, file: "cases/one.yaml")
        return CaseReader.load(source, environment: ["USER": "me"]) { path throws(FileFault) in
            guard let content = files[path] else { throw .missing }
            return content
        }
    }

    private func testCase(_ lines: String, files: [String: FileContent] = [:]) throws -> TestCase {
        let text = "cases:\n  - name: it\n" + lines.split(separator: "\n").map { "    \($0)\n" }.joined()
        return try #require(try read(text, files: files).get().cases.first)
    }

    private func request(_ value: String, files: [String: FileContent] = [:]) throws -> String {
        let testCase = try testCase("request: \(value)\nexpect: { action: none }", files: files)
        return String(decoding: testCase.request.value, as: UTF8.self)
    }

    @Test func theFile() throws {
        let file = try read(
            "config: [a.yaml, /b.yaml]\nenvironment: { A: \"${env.USER}\" }\n"
                + "cases: [{ name: x, request: curl h, expect: { action: none } }]"
        ).get()
        #expect(file.configuration == ["cases/a.yaml", "/b.yaml"] && file.environment == ["A": "me"])
        #expect(file.cases[0].place.description == "cases/one.yaml:3:9")
    }

    @Test func requestsByKeys() throws {
        #expect(
            try request("{ url: \"http://h:81/x\", headers: { A: [\"1\", \"2\"], B: 3 } }")
                == "GET http://h:81/x HTTP/1.1\r\nHost: h:81\r\nA: 1\r\nA: 2\r\nB: 3\r\n\r\n")
        #expect(
            try request("{ url: http://h/, form: { a b: \"c&d\" }, headers: { host: other } }")
                == "POST http://h/ HTTP/1.1\r\nhost: other\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                + "Content-Length: 9\r\n\r\na%20b=c%26d".replacing("Length: 9", with: "Length: 11"))
        #expect(
            try request(
                "{ method: PUT, url: http://h/, file: body }",
                files: ["cases/body": FileContent(bytes: Array("hi".utf8))])
                == "PUT http://h/ HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi")
    }

    @Test func aLineBreakAtTheEndIsTheEditors() throws {
        let testCase = try testCase(
            "request: |\n  POST http://h/ HTTP/1.1\n  Host: h\n  .\n  a=1\nexpect: { action: none }")
        #expect(testCase.request.value.last == UInt8(ascii: "1"))
    }

    @Test func oneAnswerOrAScript() throws {
        func origin(_ value: String) throws -> TestCase.Origin {
            try testCase("request: curl h\norigin: \(value)\nexpect: { action: none }").origin
        }
        if case .always(let answer) = try origin("{ status: 204 }"), case .message(let bytes) = answer.value {
            #expect(String(decoding: bytes, as: UTF8.self) == "HTTP/1.1 204 No Content\r\n\r\n")
        } else {
            Issue.record("no answer for everything")
        }
        if case .script(let answers) = try origin("[{ status: 204 }]") {
            #expect(answers.count == 1)
        } else {
            Issue.record("no script")
        }
        if case .script(let answers) = try origin("[{ error: dns }, \"HTTP/1.1 200 OK\"]"),
            case .fails(.dns) = answers[0].value, case .written(let text) = answers[1].value
        {
            #expect(text == Array("HTTP/1.1 200 OK".utf8))
        } else {
            Issue.record("no script")
        }
        if case .script(let answers) = try origin("[]") { #expect(answers.isEmpty) } else { Issue.record("no script") }
        if case .silent = try testCase("request: curl h\nexpect: { action: none }").origin { return }
        Issue.record("an answer out of nothing")
    }

    @Test func expectations() throws {
        let testCase = try testCase(
            "request: curl h\nexpect:\n  sent: none\n  applied: []\n  received: { status: 200, headers: { A: null, B: [x, y*], C: 1 } }"
        )
        #expect(testCase.sent?.value.isEmpty == true && testCase.applied?.value == [] && testCase.notApplied == nil)
        guard case .message(let received)? = testCase.received?.value else { return #expect(Bool(false)) }
        let headers = received.headers
        #expect(headers.map(\.name) == ["A", "B", "C"])
        if case .absent = headers[0].expected.value, case .all(let all) = headers[1].expected.value,
            case .one(let one) = headers[2].expected.value
        {
            #expect(
                all.map(\.written) == ["x", "y*"] && all[1].matcher.accepts("yes") && !all[1].matcher.accepts("no"))
            #expect(one.written == "1" && !one.matcher.accepts("11"))
        } else {
            Issue.record("\(headers)")
        }
    }

    @Test func noAnswerIsExpected() throws {
        let testCase = try testCase("request: curl h\nexpect: { received: none, connection: reset }")
        guard case .some(.none) = testCase.received?.value else { return #expect(Bool(false)) }
        #expect(testCase.connection?.value == .reset)
    }

    @Test func everyFaultIsFoundInOneGo() {
        let text = """
            confg: a.yaml
            cases:
              - name: one
                request: { url: h }
                expect: { sent: { headers: { A: { b: c } } } }
              - request: curl h
                expect: { status: 200 }
            """
        guard case .failure(let faults) = read(text) else { return #expect(Bool(false)) }
        #expect(
            faults.diagnostics.map { "\($0.line):\($0.column) \($0.nearest ?? "-")" }
                == ["1:1 config", "4:21 -", "6:5 -", "7:15 -"])
    }
}
