import HTTPCodec
import Interception

/// The errors for requests that Usher refuses.
extension ProxyError {
    /// The code of an interceptor took too long.
    static func lateCode(_ call: SwiftCall) -> ProxyError {
        let words = "\(call.words) came to nothing within \(call.deadline) ms"
        return ProxyError("proxy_internal_error", status: 504, words)
    }

    static let loop = ProxyError(
        "proxy_loop_detected", status: 508,
        "the request has been through this proxy before: something behind it sends requests back")

    /// An environment does not allow what the configuration would do with the request.
    static func forbidden(by reason: String) -> ProxyError {
        ProxyError("http_request_denied", status: 403, "\(reason) (environments)")
    }

    static let originForm = ProxyError.badRequest(
        400,
        "this is a forward proxy: set it as HTTP_PROXY, or ask for a whole URL (GET http://host/path HTTP/1.1); "
            + "http://\(OwnPages.host)/ through it shows more")

    static let bodyTooLarge = ProxyError(
        "http_request_error", status: 413, "the request's body is larger than limits.body allows")

    static func misdirected(_ request: RequestHead, _ tunnel: Origin) -> ProxyError {
        ProxyError(
            "http_request_error", status: 421,
            "the request's Host is \(request.fields.text(request.target.authority)), but the tunnel was opened to "
                + (tunnel.serverName.map { "\($0) at " } ?? "") + tunnel.description)
    }

    static func connectPort(_ port: UInt16, permitted: [UInt16]) -> ProxyError {
        ProxyError(
            "http_request_denied", status: 403,
            "destinations.connect_ports permits CONNECT to "
                + "\(permitted.map(String.init).joined(separator: ", ")) alone; add \(port) to it where that is meant")
    }
}
