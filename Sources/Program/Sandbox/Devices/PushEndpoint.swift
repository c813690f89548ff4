internal import Formats
internal import HTTPCodec

/// `POST json/…/push/sns/message`: messages of devices, authenticated by their signature only.
enum PushEndpoint {
    static func answer(_ call: RESTCall, _ devices: inout DeviceRegister) -> SandboxResponse {
        let request = call.request
        guard request.head.method == .post else { return .methodNotAllowed("POST") }
        guard call.route.rest.dropFirst() == ["sns", "message"] else {
            return .notFound(request, note: "no such endpoint")
        }
        guard let action = request.query["_action"], ["register", "authenticate"].contains(action) else {
            return .fault(400, "Unsupported action", note: "neither register nor authenticate")
        }
        guard let body = try? JSONValue(parsing: request.body), let id = body["messageId"]?.text,
            let token = body["jwt"]?.text, id.hasPrefix("\(action.uppercased()):")
        else { return .fault(400, "Bad Request", note: "no message of that kind") }
        if let fault = devices.take(id, token, now: call.now) {
            return .fault(400, "Bad Request", note: "a message of a device, refused: \(fault)")
        }
        return .json(200, .object([]), note: "a device \(action == "register" ? "registers" : "answers a push")")
    }
}
