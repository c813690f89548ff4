import Formats
import Testing

@testable import Sandbox

extension World {
    /// Starts a tree by name.
    mutating func begin(tree: String, session: String? = nil) throws -> SandboxResponse {
        try start("authIndexType=service&authIndexValue=\(tree)&ForceAuth=true", session: session)
    }

    /// Fills in the inputs of a step, for each callback in its order, and sends it back.
    mutating func reply(
        _ step: SandboxResponse, _ values: [[JSONValue]], session: String? = nil, realm: String = "/"
    ) throws -> SandboxResponse {
        var filled = try json(step)
        let callbacks = try #require(filled["callbacks"]?.items)
        #expect(callbacks.count == values.count)
        filled["callbacks"] = .array(
            zip(callbacks, values).map { callback, values in
                guard let inputs = callback["input"]?.items else { return callback }
                var changed = callback
                changed["input"] = .array(
                    zip(inputs, values).map { input, value in
                        var input = input
                        input["value"] = value
                        return input
                    })
                return changed
            })
        return try send(
            "POST", Self.authenticatePath(realm), session: session, fields: Self.json, body: filled.serialized)
    }

    /// Name and password on one page.
    static let credentials: [[JSONValue]] = [[.string("demo")], [.string("changeit")]]

    func types(_ step: SandboxResponse) throws -> [String] {
        try #require(try json(step)["callbacks"]?.items).compactMap { $0["type"]?.text }
    }

    /// The value of an output of the step's first callback.
    func output(_ step: SandboxResponse, _ name: String) throws -> JSONValue? {
        try json(step)["callbacks"]?[0]?["output"]?.items?.first { $0["name"]?.text == name }?["value"]
    }

    func isSuccess(_ response: SandboxResponse) throws -> Bool {
        let token = try json(response)["tokenId"]?.text
        return response.status == 200 && token != nil
    }
}
