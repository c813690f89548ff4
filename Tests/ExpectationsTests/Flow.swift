import Interception
import Journal

/// A stored flow for tests.
struct Flow {
    var id = 1
    var parent = 0
    /// Milliseconds since a fixed beginning.
    var at = 0
    var duration = 10
    var method = "GET"
    var scheme = 2
    var host = "am.test"
    var target = "/"
    var action: Action?
    var request: [String] = []
    var body = ""
    var status = 200
    var response: [String] = []
    var answer = ""
    var error = ""
    var flags: FlowFlags = []

    static let beginning = 1_700_000_000_000

    var packed: PackedFlow {
        var packer = FlowPacker()
        let numbers: [FlowNumber: Int] = [
            .id: id, .parent: parent, .sequence: id, .began: Self.beginning + at, .duration: duration,
            .status: status, .port: scheme == 2 ? 443 : 80, .scheme: scheme, .requestBytes: body.utf8.count,
            .responseBytes: answer.utf8.count, .attempts: 1, .flags: flags.rawValue,
        ]
        for (number, value) in numbers { packer.set(number, value) }
        packer.set(.action, action?.rawValue ?? "")
        packer.set(.proxyError, error)
        packer.set(.method, method)
        packer.set(.authority, host)
        packer.set(.target, target)
        packer.set(.request, request.map { "\($0)\r\n" }.joined())
        packer.set(.requestBody, body)
        packer.set(.response, response.map { "\($0)\r\n" }.joined())
        packer.set(.responseBody, answer)
        guard let flow = PackedFlow(packer.finish()) else { fatalError("a packed flow is one") }
        return flow
    }

    static let form = "Content-Type: application/x-www-form-urlencoded"
    static let json = "Content-Type: application/json"

    // MARK: calls to AM

    static func authorize(
        _ query: String, id: Int = 1, at: Int = 0, to location: String? = nil, request: [String] = []
    ) -> Flow {
        Flow(
            id: id, at: at, target: "/oauth2/authorize?\(query)", action: .authorize, request: request, status: 302,
            response: location.map { ["Location: \($0)"] } ?? [])
    }

    static func token(
        _ action: Action, _ form: String, _ answer: String = "", id: Int = 1, at: Int = 0
    ) -> Flow {
        Flow(
            id: id, at: at, method: "POST", target: "/oauth2/access_token", action: action, request: [Self.form],
            body: form, response: [Self.json], answer: answer)
    }

    /// A call of a login.
    static func step(
        _ id: Int, at: Int = 0, sends body: String = "{}", gets answer: String, request: [String] = []
    ) -> Flow {
        Flow(
            id: id, at: at, method: "POST", target: "/json/authenticate",
            action: body.contains("authId") ? .authenticate : .startAuthenticate, request: [Self.json] + request,
            body: body, response: [Self.json], answer: answer)
    }
}
