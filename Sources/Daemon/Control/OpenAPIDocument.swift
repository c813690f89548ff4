internal import Formats

/// The OpenAPI 3.1 description of the admin API, generated from its routes.
struct OpenAPIDocument {
    /// The route that serves it.
    static func route(of routes: [ControlRoute]) -> ControlRoute {
        var document: JSONValue = .null
        let route = ControlRoute(
            "GET", "/v1/openapi.json", "describe", "This description.",
            answers: [RouteAnswer("An OpenAPI 3.1 document.", .map(.any))]
        ) { _ throws(ControlProblem) in .now(ControlAnswer(document)) }
        document = OpenAPIDocument(routes: routes + [route]).value
        return route
    }

    let routes: [ControlRoute]

    var value: JSONValue {
        [
            "openapi": "3.1.0",
            "info": ["title": "Usher", "version": "1", "description": "The admin API of the running daemon."],
            "security": [["token": []]], "paths": paths,
            "components": [
                "schemas": ["Problem": ControlProblem.shape.schema],
                "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
            ],
        ]
    }

    private var paths: JSONValue {
        var paths: JSONValue = .object([])
        for route in routes {
            let operation = operation(route)
            let method = route.method.lowercased()
            paths[route.path] = (paths[route.path] ?? .object([])).with(method, operation)
        }
        return paths
    }

    private func operation(_ route: ControlRoute) -> JSONValue {
        let description = route.description
        var operation: JSONValue = ["operationId": .string(description.id), "summary": .string(description.summary)]
        if route.isOpen { operation = operation.with("security", .array([])) }
        if !description.parameters.isEmpty {
            operation = operation.with("parameters", .array(description.parameters.map(Self.parameter)))
        }
        if let body = description.body {
            let content = Self.content("application/json", body.schema)
            operation = operation.with(
                "requestBody", ["required": .bool(description.needsBody), "content": content])
        }
        return operation.with("responses", responses(route))
    }

    private func responses(_ route: ControlRoute) -> JSONValue {
        var responses: JSONValue = .object([])
        for answer in route.description.answers {
            var response: JSONValue = ["description": .string(answer.doc)]
            if !answer.type.isEmpty {
                // OpenAPI names media types without parameters
                let type = String(answer.type.prefix { $0 != ";" })
                response = response.with(
                    "content", Self.content(type, answer.shape?.schema ?? ControlShape.text.schema))
            }
            responses["\(answer.status)"] = response
        }
        for (status, words) in route.description.problems.sorted(by: { $0.key < $1.key }) {
            responses["\(status)"] = Self.problem(words)
        }
        responses["default"] = Self.problem("The reason why the request failed.")
        return responses
    }

    private static func problem(_ words: String) -> JSONValue {
        let reference: JSONValue = ["$ref": "#/components/schemas/Problem"]
        return ["description": .string(words), "content": content("application/problem+json", reference)]
    }

    private static func content(_ type: String, _ schema: JSONValue) -> JSONValue {
        [type: ["schema": schema]]
    }

    private static func parameter(_ parameter: RouteParameter) -> JSONValue {
        var schema = schema(parameter.form)
        if parameter.isList {
            schema = ["type": "array", "items": schema]
        }
        return [
            "name": .string(parameter.name), "in": .string(parameter.isInPath ? "path" : "query"),
            "description": .string(parameter.doc), "required": .bool(parameter.isRequired), "schema": schema,
        ]
    }

    private static func schema(_ form: RouteParameter.Form) -> JSONValue {
        switch form {
        case .text(let most): ControlShape.text.schema.with("maxLength", .integer(most))
        case .integer(let range): ControlShape.integer(range).schema
        case .choice(let words): ControlShape.choice(words).schema
        case .flag: ControlShape.flag.schema
        }
    }
}
