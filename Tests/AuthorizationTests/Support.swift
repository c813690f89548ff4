import Authorization
import Formats
import Foundation
import HTTPCodec
import Interception
import Testing

/// A file of Tests/Vectors, as JSON.
func vectors(_ name: String) throws -> JSONValue {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let data = try Data(contentsOf: folder.appending(path: "Vectors/\(name)"))
    return try JSONValue(parsing: Array(data))
}

func fields(_ lines: [(String, String)]) -> FieldTable {
    var table = FieldTable()
    for line in lines { table.add(line.0, line.1) }
    return table
}

func request(_ method: String, _ url: String, _ lines: [(String, String)] = []) throws -> RequestHead {
    var head = try RequestHead(method: method, url: url)
    for line in lines { head.fields.add(line.0, line.1) }
    return head
}

/// The fields of a JSON object of texts.
func lines(_ object: JSONValue?) -> [(String, String)] {
    object?.members?.map { ($0.name, $0.value.text ?? "") } ?? []
}

func conditions(_ object: JSONValue?) -> [Advice.Condition] {
    object?.members?.map { Advice.Condition($0.name, $0.value.items?.compactMap(\.text) ?? []) } ?? []
}

let am = AuthorizationServer(url: "https://am.example.test/am", host: "am.example.test", realms: ["/", "/alpha"])

func policy(_ resources: [String] = ["https://shop.example.test/api/*"]) -> AuthorizationPolicy {
    AuthorizationPolicy(resources: resources.map { .init(url: $0) }, server: am)
}

/// All forms of advice, for tests of how they are read.
let everyForm: Advice.Forms = [.header, .redirect, .body]

/// Reads an answer in every form.
func readAdvice(_ status: Int, _ lines: [(String, String)], _ body: [UInt8]? = nil) -> Advice? {
    AdviceReader(everyForm).read(status: status, fields: fields(lines), body: body)
}

/// An exchange in which an advice came.
func exchange(
    _ request: RequestHead, _ resource: AuthorizationPolicy.Resource = .init(url: "*"), body: String = "",
    status: Int = 401
) -> AdvisedExchange {
    AdvisedExchange(
        request: request, sent: request, body: Array(body.utf8), bodyComplete: true, resource: resource, status: status)
}

let json = [("Content-Type", "application/json")]

/// A step whose callbacks are given as JSON.
func step(_ authId: String, _ callbacks: String) -> [UInt8] {
    Array("{\"authId\":\"\(authId)\",\"callbacks\":[\(callbacks)],\"stage\":\"Any\"}".utf8)
}

extension AuthorizationPolicy.Judgement {
    var refusal: String? { if case .refused(let reason) = self { reason } else { nil } }
}

extension StepUp {
    /// A step-up for a session that came in a cookie.
    init(
        policy: AuthorizationPolicy, advice: Advice, session: String, affinity: String? = nil, realm: String = "/"
    ) {
        self.init(
            policy: policy, advice: advice,
            session: SessionSource(token: session, carrier: .cookie, affinity: affinity),
            realm: realm)
    }

    mutating func answered(
        _ status: Int, _ body: String, _ lines: [(String, String)] = json
    ) -> Command {
        answered(status: status, fields: fields(lines), body: Array(body.utf8))
    }
}

extension StepUp.Command {
    var call: ServerCall? { if case .send(let call) = self { call } else { nil } }
    var outcome: StepUp.Outcome? { if case .succeeded(let outcome) = self { outcome } else { nil } }
    var failure: StepUp.Failure? { if case .failed(let failure) = self { failure } else { nil } }
    var open: OpenStep? { if case .ask(let step) = self { step } else { nil } }
    var wait: Int? { if case .wait(let milliseconds) = self { milliseconds } else { nil } }
}

extension ServerCall {
    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue? { try? JSONValue(parsing: body) }

    /// The value of the first input of a callback in the step that is sent back.
    func input(_ index: Int) -> JSONValue? { json?["callbacks"]?[index]?["input"]?[0]?["value"] }
}
