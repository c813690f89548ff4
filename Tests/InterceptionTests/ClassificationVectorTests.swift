import Formats
import Foundation
import Interception
import Testing

/// The shared cases: a request on the wire, and what it means.
struct ClassificationVectorTests {
    struct Vector: CustomTestStringConvertible, Sendable {
        let json: JSONValue

        var testDescription: String { "\(json["id"]?.text ?? "?") \(json["title"]?.text ?? "")" }
    }

    static let document: JSONValue = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Vectors/classification.json")
        guard let data = try? Data(contentsOf: file), let json = try? JSONValue(parsing: Array(data)) else {
            return .null
        }
        return json
    }()

    static let vectors = (document["vectors"]?.items ?? []).map(Vector.init)

    @Test func theFileIsThere() {
        #expect(Self.vectors.count >= 64)
    }

    @Test(arguments: vectors) func vector(_ vector: Vector) throws {
        let wire = try #require(vector.json["request"])
        var lines = ["\(wire["method"]?.text ?? "") \(wire["url"]?.text ?? "")"]
        for header in wire["headers"]?.members ?? [] { lines.append("\(header.name): \(header.value.text ?? "")") }
        let body = Array((wire["body"]?.text ?? "").utf8)
        if !body.isEmpty { lines.append("Content-Length: \(body.count)") }
        let head = try request(lines.joined(separator: "\n"))

        let flows = Flows()
        for flow in vector.json["state"]?.members ?? [] {
            let payload = ActionPayload(tree: flow.value["tree"]?.text, type: flow.value["type"]?.text)
            flows.remember(authId: flow.name, payload: payload)
        }
        var paths: [AuthorizationServer.Endpoint: String] = [:]
        for path in vector.json["config"]?["paths"]?.members ?? [] {
            let endpoint = path.name == "token" ? .accessToken : AuthorizationServer.Endpoint(rawValue: path.name)
            paths[try #require(endpoint)] = path.value.text
        }
        let hosts = Self.document["assumes"]?["authorizationServerHosts"]?.items ?? []
        let classifier = Classifier(
            servers: hosts.compactMap(\.text).map {
                AuthorizationServer(url: "https://\($0)/am", host: $0, paths: paths)
            })

        let found = classifier.classify(head, body: body.isEmpty ? nil : body, flows: flows)
        let expected = try #require(vector.json["expect"])
        #expect(found.action?.rawValue == expected["action"]?.text)
        #expect(found.payload?.tree == expected["payload"]?["tree"]?.text)
        #expect(found.payload?.type == expected["payload"]?["type"]?.text)
        #expect((found.payload == nil) == (expected["payload"] == .null))
        if let realm = expected["realm"] { #expect(found.realm == realm.text) }
        if let source = expected["payloadSource"] { #expect(found.payloadSource?.rawValue == source.text) }
        #expect(found.evidence.hasSuffix("."))
    }
}
