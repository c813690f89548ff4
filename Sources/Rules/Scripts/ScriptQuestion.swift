internal import Formats
public import Interceptors

/// A message that a script is asked about.
public struct ScriptQuestion: Sendable {
    public enum Message: Sendable {
        case request(Request)
        case response(Response, to: Request)
    }

    /// The interceptor in the configuration.
    public let interceptor: String
    public let action: Action
    public let message: Message

    public init(interceptor: String, action: Action, message: Message) {
        self.interceptor = interceptor
        self.action = action
        self.message = message
    }

    public var phase: ScriptTerms.Phase { if case .request = message { .request } else { .response } }

    /// The body of its message.
    public var body: [UInt8]? {
        switch message {
        case .request(let request): request.body
        case .response(let response, _): response.body
        }
    }

    /// The frame that asks it.
    /// - Parameter file: the name of the file that has the body.
    public func frame(id: Int, file: String? = nil) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(1024)
        out += "{\"id\":\(id),\"phase\":\"\(phase.rawValue)\",\"interceptor\":".utf8
        JSONValue.writeString(interceptor, to: &out)
        write(action, to: &out)
        switch message {
        case .request(let request):
            write(request, file, to: &out)
            write(request.state, to: &out)
        case .response(let response, let request):
            write(request, nil, to: &out)
            out += ",\"response\":{\"status\":\(response.status)".utf8
            write(response.headers, response.body, file, to: &out)
            write(response.state, to: &out)
        }
        out.append(0x7D)
        return FrameReader.frame(out)
    }

    private func write(_ action: Action, to out: inout [UInt8]) {
        out += ",\"action\":{\"type\":".utf8
        JSONValue.writeString(action.type.rawValue, to: &out)
        if let payload = action.payload {
            out += ",\"payload\":".utf8
            var value = JSONValue.object([])
            value["tree"] = payload.tree.map { .string($0) }
            value["type"] = payload.type.map { .string($0) }
            value.write(to: &out)
        }
        if let realm = action.realm {
            out += ",\"realm\":".utf8
            JSONValue.writeString(realm, to: &out)
        }
        out.append(0x7D)
    }

    private func write(_ request: Request, _ file: String?, to out: inout [UInt8]) {
        out += ",\"request\":{\"method\":".utf8
        JSONValue.writeString(request.method, to: &out)
        out += ",\"url\":".utf8
        JSONValue.writeString(request.url, to: &out)
        write(request.headers, request.body, file, to: &out)
    }

    /// Writes the last members of a message, and its end.
    private func write(_ headers: Headers, _ body: [UInt8]?, _ file: String?, to out: inout [UInt8]) {
        out += ",\"headers\":[".utf8
        for (index, field) in headers.fields.enumerated() {
            out += (index > 0 ? ",[" : "[").utf8
            JSONValue.writeString(field.name, to: &out)
            out.append(0x2C)
            JSONValue.writeString(field.value, to: &out)
            out.append(0x5D)
        }
        out.append(0x5D)
        if let file {
            out += ",\"file\":\"\(file)\"".utf8
        } else if let body {
            out += ",\"body\":\"".utf8
            out += Base64.encode(body).utf8
            out.append(0x22)
        }
        out.append(0x7D)
    }

    private func write(_ state: [String: String], to out: inout [UInt8]) {
        guard !state.isEmpty else { return }
        out += ",\"state\":".utf8
        JSONValue.object(state.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }).write(to: &out)
    }

    /// A frame to which every script has to answer with the id alone.
    public static func ping(id: Int) -> [UInt8] { FrameReader.frame(Array("{\"id\":\(id),\"phase\":\"ping\"}".utf8)) }
}
