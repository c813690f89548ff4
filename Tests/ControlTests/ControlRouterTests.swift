import Control
import Formats
import Testing

@Suite("Who answers which request")
struct ControlRouterTests {
    private let router = ControlRouter([
        ControlRoute(plain: "GET", "/v1/a") { _ in .string("a") },
        ControlRoute(plain: "DELETE", "/v1/a/{name}", parameters: [.path("name", "")]) { request in
            .string(request.arguments.text("name") ?? "")
        },
        ControlRoute(
            plain: "GET", "/v1/a/{one}/b/{two}",
            parameters: [
                .path("one", ""), .path("two", ""), .query("limit", .integer(1...10), ""),
                .query("when", .text(most: 8), "", isList: true), .query("open", .flag, ""),
                .query("kind", .choice(["x", "y"]), ""),
            ]
        ) { request in
            let arguments = request.arguments
            return .array(
                [.string(arguments.text("one") ?? ""), .string(arguments.text("two") ?? "")]
                    + [.integer(arguments.integer("limit") ?? -1), .bool(arguments.flag("open"))]
                    + arguments.texts("when").map { .string($0) })
        },
        ControlRoute(
            plain: "GET", "/v1/must", parameters: [.query("id", .text(most: 4), "", isRequired: true)]
        ) { _ in .null },
    ])

    @Test func itSaysWhatThereIs() {
        #expect(router.answer(ControlRequest("GET", "/v1/a")).body == .string("a"))
        #expect(router.answer(ControlRequest("HEAD", "/v1/a")).status == 200)
        #expect(router.answer(ControlRequest("DELETE", "/v1/a/x%2Fy")).body == .string("x/y"))
        let other = router.answer(ControlRequest("POST", "/v1/a"))
        #expect(other.status == 405 && other.isProblem && other.fields == [.init("Allow", "GET, HEAD")])
        #expect(router.answer(ControlRequest("GET", "/v1")).status == 404)
        #expect(router.answer(ControlRequest("GET", "/v1/a/b/c")).status == 404)
    }

    @Test func whatIsAskedForIsRead() {
        let answer = router.answer(ControlRequest("GET", "/v1/a/x/b/y%20z?when=a%3D1&limit=7&when=b+c&open=true"))
        #expect(
            answer.body
                == .array([
                    .string("x"), .string("y z"), .integer(7), .bool(true), .string("a=1"), .string("b c"),
                ]))
        #expect(router.answer(ControlRequest("GET", "/v1/a/x/b/y?")).status == 200)
        #expect(router.answer(ControlRequest("GET", "/v1/must?id=1")).status == 200)
    }

    @Test(
        "What no route takes is refused in words",
        arguments: [
            ("/v1/a?x=1", "unknown query parameter x; the route takes none"),
            ("/v1/a/x/b/y?limits=1", "unknown query parameter limits; the route takes limit, when, open, kind"),
            ("/v1/a/x/b/y?one=1", "unknown query parameter one"),
            ("/v1/a/x/b/y?limit=0", "limit is not a whole number from 1 to 10"),
            ("/v1/a/x/b/y?limit=+1", "limit is not a whole number"),
            ("/v1/a/x/b/y?limit=99999999999999999999", "limit is not a whole number"),
            ("/v1/a/x/b/y?limit=", "limit is not a whole number"),
            ("/v1/a/x/b/y?limit=1&limit=2", "limit is in the query more than once"),
            ("/v1/a/x/b/y?open=yes", "open is neither true nor false"),
            ("/v1/a/x/b/y?kind=z", "kind is not one of x, y"),
            ("/v1/a/x/b/y?when=123456789", "when is longer than 8 characters"),
            ("/v1/must", "id is missing"),
            ("/v1/must?id=\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}", "id is longer than 4 characters"),
        ])
    func unfit(_ path: String, _ words: String) {
        let answer = router.answer(ControlRequest("GET", path))
        #expect(answer.status == 400 && answer.isProblem)
        #expect(answer.body["detail"]?.text?.contains(words) == true, "\(answer.body.serialized)")
    }

    @Test func itDescribesItself() throws {
        let document = router.answer(ControlRequest("GET", "/v1/openapi.json")).body
        #expect(document["openapi"]?.text == "3.1.0")
        #expect(document["paths"]?.members?.count == 5)
        let operation = try #require(document["paths"]?["/v1/a/{one}/b/{two}"]?["get"])
        let parameters = try #require(operation["parameters"]?.items)
        #expect(parameters.map { $0["in"]?.text } == ["path", "path", "query", "query", "query", "query"])
        #expect(parameters[2]["schema"]?["maximum"]?.integer == 10)
        #expect(parameters[3]["schema"]?["type"]?.text == "array")
        #expect(
            operation["responses"]?["default"]?["content"]?["application/problem+json"]?["schema"]?["$ref"]?.text
                == "#/components/schemas/Problem")
        for route in router.routes {
            #expect(document["paths"]?[route.path]?[route.method.lowercased()] != nil, "\(route.path)")
        }
    }
}
