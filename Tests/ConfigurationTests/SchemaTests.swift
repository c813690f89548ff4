import Declaration
import Formats
import Foundation
import ProxyCore
import Testing

@testable import Configuration

@Suite struct SchemaTests {
    @Test func isJSONAndKnowsEveryKey() throws {
        let schema = try JSONValue(parsing: Schema.text)
        #expect(schema["$schema"]?.text == "https://json-schema.org/draft/2020-12/schema")
        for object in ObjectShape.all {
            let properties = try #require(schema["$defs"]?[object.name]?["properties"])
            for key in object.keys { #expect(properties[key.name] != nil, "\(object.name).\(key.name)") }
            for key in Unavailable.keys(of: object) { #expect(properties[key] != nil, "\(object.name).\(key)") }
        }
    }

    /// Where this fails, `make schema` writes both anew.
    @Test(arguments: [("config/usher.schema.json", Schema.text), ("docs/reference.md", Reference.text)])
    func whatIsCheckedInIsIt(_ path: String, _ text: String) throws {
        let root = testFolder.deletingLastPathComponent().deletingLastPathComponent()
        #expect(try String(contentsOf: root.appending(path: path), encoding: .utf8) == text)
    }

    @Test func thePageHasEveryKeyAndASectionForEachMap() {
        let lines = Reference.text.split(separator: "\n")
        for object in ObjectShape.all where object != KeyTable.responseEdit && object != KeyTable.errorEdit {
            for key in object.keys { #expect(lines.contains { $0.hasPrefix("| `\(key.name)` | ") }, "\(key.name)") }
        }
        let headings = lines.filter { $0.hasPrefix("##") }
        #expect(Set(headings).count == headings.count && headings.contains("### tls.ca"))
        #expect(lines.contains("| `connect` | a duration from 1ms to 24h | `5s` | The time to connect to an origin. |"))
        #expect(lines.contains { $0.hasPrefix("| `remove_cookie` | ") && $0.contains(" | request, response | ") })
        #expect(lines.contains { $0.hasPrefix("| `ca` | [map](#tlsca) |") })
    }

    @Test func referencesLeadSomewhere() throws {
        let schema = try JSONValue(parsing: Schema.text)
        func visit(_ value: JSONValue) {
            if let reference = value["$ref"]?.text {
                #expect(schema["$defs"]?[reference.replacing("#/$defs/", with: "")] != nil, "\(reference)")
            }
            value.members?.forEach { visit($0.value) }
            value.items?.forEach(visit)
        }
        visit(schema)
    }

    /// The defaults that editors show are those that hold: a file that spells them all out changes nothing.
    @Test func defaultsAreTheDefaults() throws {
        func spelled(_ object: ObjectShape, _ indent: String) -> String {
            object.keys.map { key in
                // what is asked for by its presence has a key that must be there, and no default
                if case .object(let inner) = key.shape, object == KeyTable.root,
                    !inner.keys.contains(where: \.isRequired)
                {
                    return "\(indent)\(key.name):\n\(spelled(inner, indent + "  "))"
                }
                return key.standard.map { "\(indent)\(key.name): \($0)\n" } ?? ""
            }.joined()
        }
        let authorization = """
            am: [{ url: "http://am.example.com" }]
            authorization:

            """
        let plain = try snapshot("version: 1\n" + authorization + "  resources: []")
        let text =
            "version: 1\n"
            + spelled(KeyTable.root, "").replacing(
                "am: []\n", with: authorization + spelled(KeyTable.authorization, "  "))
        let spelledOut = try snapshot(text)
        #expect(spelledOut.listeners == plain.listeners && spelledOut.workers == plain.workers)
        #expect(spelledOut.clients == plain.clients && spelledOut.destinations == plain.destinations)
        #expect(spelledOut.log == plain.log && "\(spelledOut.tls)" == "\(plain.tls)")
        #expect("\(spelledOut.settings.limits)" == "\(plain.settings.limits)")
        #expect("\(spelledOut.settings.timeouts)" == "\(plain.settings.timeouts)")
        #expect("\(spelledOut.settings)" == "\(plain.settings)")
    }
}
