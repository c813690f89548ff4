import Formats
import Foundation
import Interceptors
import Testing

@testable import Scripts

/// docs/scripts.schema.json says of the protocol what the code does.
@Suite struct SchemaTests {
    private let schema: JSONValue

    init() throws {
        let path = URL(filePath: #filePath).appending(path: "../../../docs/scripts.schema.json")
        schema = try JSONValue(parsing: Array(Data(contentsOf: path.standardized)))
    }

    private func definition(_ name: String) -> JSONValue? { schema["$defs"]?[name] }

    private func names(_ shape: JSONValue?) -> Set<String> { Set(shape?["properties"]?.members?.map(\.name) ?? []) }

    /// What a value has that its shape does not.
    private func strangers(_ value: JSONValue, _ given: JSONValue?) -> [String] {
        var shape = given
        if let name = given?["$ref"]?.text?.split(separator: "/").last { shape = definition(String(name)) }
        let type =
            switch value {
            case .object: "object"
            case .array: "array"
            case .string: "string"
            case .number: "integer"
            case .bool, .null: "none"
            }
        if let wanted = shape?["type"]?.text, wanted != type { return ["\(type) for \(wanted)"] }
        if let known = shape?["enum"]?.items, !known.contains(value) { return [value.serialized] }
        return (value.items ?? []).flatMap { strangers($0, shape?["items"]) }
            + (value.members ?? []).flatMap { member in
                if let known = shape?["properties"]?[member.name] { return strangers(member.value, known) }
                guard let others = shape?["additionalProperties"], others.members != nil else { return [member.name] }
                return strangers(member.value, others)
            }
    }

    private func questions() throws -> [JSONValue] {
        let request = Request(url: "http://a.test/", headers: ["Host": "a.test"], body: [1], state: ["a": "b"])
        let response = Response(headers: ["A": "b"], body: [1], state: ["a": "b"])
        let action = Action(type: .authenticate, payload: .init(tree: "Login", type: "service"), realm: "/")
        func asked(_ message: ScriptQuestion.Message, _ file: String? = nil) -> [UInt8] {
            ScriptQuestion(interceptor: "sdk", action: action, message: message).frame(id: 1, file: file)
        }
        let frames = [
            asked(.request(request)), asked(.request(request), "1"), asked(.response(response, to: request)),
            asked(.response(response, to: request), "1"), ScriptQuestion.ping(id: 2),
        ]
        return try frames.map { frame in
            var reader = FrameReader(limit: 10_000)
            reader.append(frame)
            return try JSONValue(parsing: Array(#require(try reader.next())))
        }
    }

    @Test func questionsAreAsDescribed() throws {
        for question in try questions() { #expect(strangers(question, definition("question")) == []) }
    }

    @Test func eachMemberOfAQuestionIsWritten() throws {
        let written = try questions().reduce(into: Set<String>()) { $0.formUnion($1.members?.map(\.name) ?? []) }
        #expect(written == names(definition("question")))
        for part in ["action", "request", "response"] {
            let members = try questions().flatMap { $0[part]?.members ?? [] }.map(\.name)
            #expect(Set(members) == names(definition(part)), "\(part)")
        }
    }

    @Test func eachMemberOfAnAnswerIsRead() {
        #expect(names(definition("answer")) == Set(ScriptReply.members))
    }

    @Test func theVersionIsTheCodes() {
        #expect(
            definition("hello")?["properties"]?["hello"]?["properties"]?["protocol"]?["const"]?.integer
                == ScriptHello.version)
    }
}
