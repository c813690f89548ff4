import HTTPCodec
import Testing

@testable import Interception

/// Forms that become JSON, and JSON that becomes a form.
@Suite struct ConvertBodyTests {
    private static let form = "POST http://a.example/\nContent-Type: application/x-www-form-urlencoded; charset=utf-8"
    private static let json = "POST http://a.example/\nContent-Type: application/json"

    private static func converted(_ head: String, _ body: String, _ form: ConvertBody.Form) throws -> Plan.Edited {
        try Plan(rules: [rule("a", request: [ConvertBody(form)])]).request(head, body)
    }

    @Test(arguments: [
        ("a=1", #"{"a":"1"}"#), ("a+b=%C3%A9&c", #"{"a b":"é","c":""}"#),
        ("a=1&b=2&a=3&a=", #"{"a":["1","3",""],"b":"2"}"#),
        ("&&a=%22", #"{"a":"\""}"#), ("%61=1&a=2", #"{"a":["1","2"]}"#),
    ])
    func aFormBecomesJSON(_ form: String, _ json: String) throws {
        let made = try Self.converted(Self.form, form, .json)
        #expect(made.text == json)
        #expect(made.head.fields["Content-Type"] == "application/json")
        #expect(made.outcome.changes == ["a: made JSON of the form"])
    }

    @Test(arguments: [
        (#"{"a":"1"}"#, "a=1"), (#"{"a b":"é&","c":""}"#, "a%20b=%C3%A9%26&c="),
        (#"{"a":["1","3"],"b":2.50}"#, "a=1&a=3&b=2.50"),
        (#"{"a":true,"b":null,"c":[],"d":[null,false]}"#, "a=true&d=false"), ("{}", ""),
    ])
    func jsonBecomesAForm(_ json: String, _ form: String) throws {
        let made = try Self.converted(Self.json, json, .form)
        #expect(made.text == form)
        #expect(made.head.fields["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test(arguments: ["[1]", "7", #"{"a":{"b":1}}"#, #"{"a":[[1]]}"#, #"{"a":1,"a":2}"#, "{no", ""])
    func whatNoFormCanHoldStays(_ body: String) throws {
        let passed = try Self.converted(Self.json, body, .form)
        #expect(passed.text == body && passed.head.fields["Content-Type"] == "application/json")
        var strict = rule("a", request: [ConvertBody(.form)])
        strict.bodies.invalid = .refuse
        let refused = try Plan(rules: [strict]).request(Self.json, body)
        if body.isEmpty {
            #expect(refused.outcome.verdict == .proceed)
        } else {
            #expect(refused.outcome.verdict != .proceed && passed.outcome.warnings.count == 1)
        }
    }

    @Test(arguments: ["a=%ff", "%C3=1", "a=1&b=%E9t%E9", "a=%ED%A0%80"])
    func whatIsNoTextBecomesNoJSON(_ body: String) throws {
        let passed = try Self.converted(Self.form, body, .json)
        #expect(passed.text == body && passed.outcome.warnings.first?.words.contains("not UTF-8 text") == true)
        var strict = rule("a", request: [ConvertBody(.json)])
        strict.bodies.invalid = .refuse
        #expect(try Plan(rules: [strict]).request(Self.form, body).outcome.verdict != .proceed)
    }

    /// A service that some ask in one form and others in the other.
    @Test func whatIsThereAlreadyStaysWithoutAWord() throws {
        for (head, body, form) in [(Self.json, #"{"a":1}"#, ConvertBody.Form.json), (Self.form, "a=1", .form)] {
            let made = try Self.converted(head, body, form)
            #expect(made.text == body && !made.isReplaced && made.outcome.warnings.isEmpty)
        }
        let other = try Self.converted("POST http://a.example/\nContent-Type: image/png", "x", .form)
        #expect(other.text == "x" && other.outcome.warnings.count == 1)
    }

    @Test func moreFieldsThanAFormMayHave() throws {
        let json = "{\"a\":[" + Array(repeating: "1", count: FormEdit.mostPairs + 1).joined(separator: ",") + "]}"
        let made = try Self.converted(Self.json, json, .form)
        #expect(made.text == json && made.outcome.warnings.first?.words.contains("more than 10000 fields") == true)
        let most = Array(repeating: "a=1", count: FormEdit.mostPairs).joined(separator: "&")
        #expect(try Self.converted(Self.form, most, .json).isReplaced)
    }
}
