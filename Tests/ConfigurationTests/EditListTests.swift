import Formats
import Interception
import Testing

@testable import Configuration

/// What is made of the catalogue of edits.
@Suite struct EditListTests {
    @Test func theSchemaKnowsEveryEditAndNoOther() throws {
        let schema = try JSONValue(parsing: Schema.text)
        func names(_ object: String) throws -> Set<String> {
            let properties = try #require(schema["$defs"]?[object]?["properties"]?.members)
            return Set(properties.map(\.name))
        }
        #expect(try names("request_edit") == Set(EditCatalogue.request.map { $0.name }))
        #expect(try names("response_edit") == Set(EditCatalogue.response.map { $0.name }))
        #expect(try names("error_edit") == Set(EditCatalogue.error.map { $0.name }))
        #expect(try names("cookie").contains("http_only"), "objects in the value of an edit are known, too")
    }

    @Test func theListTellsOfEveryEdit() {
        let list = EditList.text
        for edit in EditCatalogue.all {
            #expect(list.contains("\n\(edit.name): ") || list.hasPrefix("\(edit.name): "), "\(edit.name)")
            #expect(list.contains(edit.doc))
        }
        #expect(
            list.hasPrefix(
                "set_header: { NAME: VALUE, … }\n    under request or response; changes the head\n    Replaces or adds headers.\n\nadd_header: "
            ))
        #expect(
            list.contains(
                "abort: TEXT or { [reason: TEXT] }\n    under request or response or error; ends the exchange\n"))
        #expect(
            list.contains(
                "set_state: { NAME: VALUE or null, … }\n    under request or response or error; changes no message\n"))
        #expect(list.contains("\n    ${request.json./POINTER}\n"))
        #expect(list.contains("set_status: 200 to 599\n    under response; "))
    }
}
