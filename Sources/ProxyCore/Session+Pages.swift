import HTTPCodec
import Interception

/// Requests to `usher.proxy`, which Usher answers itself.
extension Session {
    var isForOwnPages: Bool {
        request.target.host.count == OwnPages.hostLength && request.fields.equal(request.target.host, OwnPages.host)
            && engine.pages != nil
    }

    mutating func answerFromOwnPages(_ out: inout Outbox) {
        phase = .exchanging
        if request.method == .connect { return openTunnelToOwnPages(&out) }
        guard request.method == .get || request.method == .head else {
            var error = ProxyError(
                "http_request_denied", status: 405, "\(OwnPages.host) can only be read, with GET and HEAD")
            error.fields = ["Allow: GET, HEAD"]
            return answer(error, &out)
        }
        guard let page = engine.pages?[request.path] else {
            return answer(
                ProxyError(
                    "http_request_error", status: 404,
                    "there is no such page; http://\(OwnPages.host)/ shows those that there are"), &out)
        }
        if bodyState != .complete { closesAfter = true }
        record.status = 200
        OwnAnswer.write(
            page, flow: record.flow, head: request.method == .head, closing: closesAfter, into: &out)
        if request.method != .head { record.responseBytes += UInt64(page.body.count) }
        finishExchange(&out)
    }

    /// Some clients open a tunnel for plain HTTP too: the requests inside are answered here, and no connection is made.
    private mutating func openTunnelToOwnPages(_ out: inout Outbox) {
        guard request.target.port != 443 else {
            return answer(
                ProxyError(
                    "http_request_denied", status: 403,
                    "\(OwnPages.host) is read without TLS: ask for http://\(OwnPages.host)/"), &out)
        }
        tunnelTarget = Origin(scheme: .http, host: OwnPages.host, port: request.target.port)
        closesAfter = false
        record.status = 200
        out.client.append(literal: "HTTP/1.1 200 Connection Established\r\n\r\n")
        finishExchange(&out)
    }
}
