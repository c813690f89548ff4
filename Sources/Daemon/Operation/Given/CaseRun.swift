import Authorization
public import Configuration
import EventLoop
import Formats
import HTTPCodec
import Interception
import Observation
import ProxyCore
import TLSEngine

/// Runs one case of `usher test` without a network.
public struct CaseRun {
    /// An expectation that was not met.
    public struct Failure: Sendable {
        public var place: CasePlace
        /// The checked property: `sent.headers.X`.
        public var subject: String
        public var expected: [String]
        public var actual: [String]
        /// Notes that help to understand the failure.
        public var notes: [String] = []
    }

    /// The reason why a case cannot be run.
    public struct Fault: Error, Sendable {
        public var description: String
    }

    public let testCase: TestCase
    public private(set) var failures: [Failure] = []
    /// The duration of the run.
    public private(set) var milliseconds = 0

    private let dryRun: DryRun
    private let redaction: Redaction

    /// - Parameter secrets: additional values to redact, beside those of the configuration.
    public init(_ testCase: TestCase, snapshot: Snapshot, secrets: [String] = []) throws(Fault) {
        let began = Loop.monotonicMilliseconds()
        self.testCase = testCase
        let names = snapshot.settings.rules.map(\.name)
        for list in [testCase.applied, testCase.notApplied].compactMap({ $0 }) {
            for name in list.value where !names.contains(name) {
                let known = names.isEmpty ? "there is none" : "known: \(names.joined(separator: ", "))"
                throw Fault(description: "\(list.place): error: no interceptor is named \"\(name)\"; \(known)")
            }
        }
        let given: GivenRequest
        let origin: DryOrigin
        do throws(Explanation.Fault) {
            given = try GivenRequest(testCase.request.value)
        } catch {
            throw Fault(description: "\(testCase.request.place): error: \(error.description)")
        }
        origin = try Self.origin(testCase.origin, to: given.head)
        dryRun = DryRun(
            given.message(snapshot.settings.http2), in: given.tunnel, snapshot.settings,
            pages: PageBuilder.pages(snapshot, at: nil),
            destinations: snapshot.destinations, origin: origin, others: testCase.others, perform: CodeWait.answer)
        var shown = snapshot.settings
        shown.disclosure.secrets += secrets
        redaction = Redaction(shown)
        judge()
        milliseconds = Loop.monotonicMilliseconds() - began
    }

    public var isPassed: Bool { failures.isEmpty }

    // MARK: input

    private static func origin(_ origin: TestCase.Origin, to request: RequestHead) throws(Fault) -> DryOrigin {
        switch origin {
        case .silent: return .silent
        case .always(let one): return .always(try answer(one, to: request))
        case .script(let list):
            var answers: [DryAnswer] = []
            for one in list { answers.append(try answer(one, to: request)) }
            return .script(answers)
        }
    }

    private static func answer(
        _ given: Placed<TestCase.Answer>, to request: RequestHead
    ) throws(Fault) -> DryAnswer {
        switch given.value {
        case .message(let bytes): return .bytes(bytes)
        case .fails(let failure): return DryAnswer(failure)
        case .written(let text):
            do throws(Explanation.Fault) {
                return .bytes(try GivenResponse(text, to: request).message)
            } catch {
                throw Fault(description: "\(given.place): error: \(error.description)")
            }
        }
    }

    // MARK: checks

    private mutating func judge() {
        let found = dryRun.classification
        text(testCase.action, "action", found?.action?.rawValue ?? "none", found?.evidence)
        text(testCase.tree, "tree", found?.payload?.tree ?? "none")
        text(testCase.realm, "realm", found?.realm ?? "none")
        text(testCase.session, "session", dryRun.session?.origin.rawValue ?? "none", dryRun.session?.words)
        judgeInterceptors()
        if let took = testCase.took, took.value != dryRun.milliseconds {
            fail(took.place, "took", ["\(took.value)ms"], ["\(dryRun.milliseconds)ms"], story)
        }
        if let sent = testCase.sent { judge(sent) }
        if let received = testCase.received { judge(received) }
        if let connection = testCase.connection, connection.value != dryRun.ending {
            fail(connection.place, "connection", [connection.value.rawValue], [dryRun.ending.rawValue], story)
        }
        if dryRun.unasked > 0, case .script(let answers) = testCase.origin {
            let first = answers[answers.count - dryRun.unasked]
            fail(
                first.place, "origin", [Self.count(answers.count, "response")],
                ["\(Self.count(answers.count - dryRun.unasked, "request"))"], story)
        }
    }

    private mutating func text(_ expected: Placed<String>?, _ subject: String, _ actual: String, _ note: String? = nil)
    {
        guard let expected, expected.value != actual else { return }
        fail(expected.place, subject, [expected.value], [actual], note.map { [$0] } ?? [])
    }

    private mutating func fail(
        _ place: CasePlace, _ subject: String, _ expected: [String], _ actual: [String], _ notes: [String] = []
    ) {
        failures.append(
            Failure(
                place: place, subject: subject, expected: expected.map(redaction.text),
                actual: actual.map(redaction.text),
                notes: notes.map(redaction.text)))
    }

    private mutating func judgeInterceptors() {
        let verdicts = dryRun.phases.flatMap(\.judgement.verdicts).filter(\.takesPart)
        var applied: [String] = []
        for verdict in verdicts where verdict.matched && !applied.contains(verdict.name) {
            applied.append(verdict.name)
        }
        func why(_ name: String, _ matched: Bool) -> [String] {
            let verdict = verdicts.last { $0.name == name && $0.matched == matched }
            return ["\(name): \(verdict?.because ?? "nothing came as far as it")"]
        }
        if let expected = testCase.applied, Set(expected.value) != Set(applied) {
            let missing = expected.value.filter { !applied.contains($0) }.flatMap { why($0, false) }
            let added = applied.filter { !expected.value.contains($0) }.flatMap { why($0, true) }
            fail(expected.place, "applied", expected.value, applied, missing + added)
        }
        if let unwanted = testCase.notApplied {
            let found = unwanted.value.filter(applied.contains)
            if !found.isEmpty { fail(unwanted.place, "not_applied", [], found, found.flatMap { why($0, true) }) }
        }
    }

    private static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }

    /// The events, to help with a failure.
    private var story: [String] {
        dryRun.events.compactMap { event in
            if case .judged = event { nil } else { event.sentence }
        }
    }

    // MARK: messages

    private mutating func judge(_ sent: Placed<[MessageExpectation]>) {
        let messages = dryRun.sent
        if sent.value.count != messages.count {
            let lines = messages.map { "\($0.head.methodText) \($0.head.url)" }
            let expected =
                sent.value.isEmpty ? ["none"] : [Self.count(sent.value.count, "message")]
            fail(sent.place, "sent", expected, lines.isEmpty ? ["none"] : lines, story)
        }
        for (index, (expectation, message)) in zip(sent.value, messages).enumerated() {
            let subject = sent.value.count == 1 ? "sent" : "sent[\(index)]"
            text(expectation.method, "\(subject).method", message.head.methodText)
            if let url = expectation.url, !url.value.matcher.accepts(message.head.url) {
                fail(url.place, "\(subject).url", [url.value.written], [message.head.url])
            }
            judge(expectation, subject, message.head.fields, message.body)
        }
    }

    private mutating func judge(_ reception: Placed<TestCase.Reception>) {
        switch reception.value {
        case .message(let expectation): judge(expectation)
        case .none:
            guard let received = dryRun.received else { return }
            fail(reception.place, "received", ["none"], ["a response with status \(received.head.status)"], story)
        }
    }

    private mutating func judge(_ expectation: MessageExpectation) {
        guard let received = dryRun.received else {
            let why =
                if case .silent = testCase.origin { "the case has no origin" } else {
                    "the last request has no response"
                }
            return fail(expectation.place, "received", ["a response"], ["nothing: \(why)"], story)
        }
        if let status = expectation.status, status.value != received.head.status {
            fail(status.place, "received.status", ["\(status.value)"], ["\(received.head.status)"], story)
        }
        if received.isWhole != expectation.isWhole?.value ?? true {
            let words = [true: "complete", false: "cut short"]
            fail(
                expectation.isWhole?.place ?? expectation.place, "received.whole",
                [words[!received.isWhole] ?? ""], [words[received.isWhole] ?? ""], story)
        }
        judge(expectation, "received", received.head.fields, received.body)
    }

    private mutating func judge(
        _ expectation: MessageExpectation, _ subject: String, _ fields: FieldTable, _ body: [UInt8]
    ) {
        for (name, expected) in expectation.headers {
            let values = fields.values(named: name)
            guard !expected.value.isMet(by: values) else { continue }
            fail(
                expected.place, "\(subject).headers.\(name)", expected.value.lines,
                values.isEmpty ? ["(none)"] : values)
        }
        let plain = ShownMessage.plain(fields, body) ?? body
        if let expected = expectation.body {
            let text = String(validating: plain, as: UTF8.self)
            if !(text.map(expected.value.matcher.accepts) ?? false) {
                fail(
                    expected.place, "\(subject).body", Self.lines(expected.value.written),
                    text.map(Self.lines) ?? ["(\(Self.count(plain.count, "byte")), not text)"])
            }
        }
        judgeJSON(expectation, subject, plain)
    }

    private mutating func judgeJSON(_ expectation: MessageExpectation, _ subject: String, _ body: [UInt8]) {
        let text = JSONText(body)
        func values(_ pointer: JSONPointer) -> [JSONValue]? { try? text.values(at: pointer) }
        for (pointer, expected) in expectation.json {
            let found = values(pointer)
            if let value = found?.last, value.means(expected.value) { continue }
            let actual = found.map { $0.last?.indented ?? ["(none)"] } ?? ["(the body is not JSON)"]
            fail(expected.place, "\(subject).json \(pointer)", expected.value.indented, actual)
        }
        for absent in expectation.absentJSON {
            guard let value = values(absent.value)?.last else { continue }
            fail(absent.place, "\(subject).json \(absent.value)", ["(none)"], value.indented)
        }
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}

extension DryAnswer {
    /// Translates a failure of the case file into the error that interceptors see.
    init(_ failure: TestCase.Failure) {
        self =
            switch failure {
            case .connect: .unreachable(.failed("no route to host"))
            case .dns: .unreachable(.unresolvable("the name is not known"))
            case .refused: .unreachable(.refused("connection refused"))
            case .timeout: .never
            case .tls: .unreachable(.insecure(.closedInHandshake))
            case .reset: .hangsUp
            case .incomplete: .bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".utf8))
            case .malformed: .bytes(Array("no HTTP at all\r\n\r\n".utf8))
            }
    }
}

extension MessageExpectation.Lines {
    func isMet(by values: [String]) -> Bool {
        switch self {
        case .absent: values.isEmpty
        case .one(let text): values.contains(where: text.matcher.accepts)
        case .all(let texts):
            texts.count == values.count && zip(texts, values).allSatisfy { $0.matcher.accepts($1) }
        }
    }

    var lines: [String] {
        switch self {
        case .absent: ["(none)"]
        case .one(let text): [text.written]
        case .all(let texts): texts.map(\.written)
        }
    }
}
