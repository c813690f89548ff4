import HTTPCodec
import Interception
import TLSEngine

/// Writes the answers that Usher makes itself.
enum OwnAnswer {
    /// An error: Proxy-Status (RFC 9209 §2), the flow's id, and words in the form that the client accepts (RFC 9457 for
    /// `application/problem+json`).
    static func write(
        _ error: ProxyError, flow: UInt64, to request: borrowing RequestHead, closing: Bool, into out: inout Outbox
    ) {
        let wantsJSON = accepts(request, "application/problem+json") || accepts(request, "application/json")
        let reason = ReasonPhrase.of(error.status)
        let body: String
        if wantsJSON {
            body =
                JSONValue.object([
                    .init("title", .string(reason)),
                    .init("status", .integer(error.status)),
                    .init("detail", .string(error.details)),
                    .init("error", .string(error.token)),
                    .init("flow", .string(String(flow, radix: 16))),
                ]).serialized + "\n"
        } else {
            body = "\(error.status) \(reason)\n\nUsher: \(error.details).\n"
        }
        var text = "HTTP/1.1 \(error.status) \(reason)\r\n"
        text += "Proxy-Status: usher; error=\(error.token); details=\"\(quoted(error.details))\""
        if let rcode = error.rcode { text += "; rcode=\"\(rcode)\"" }
        if let alert = error.alert { text += "; alert-id=\(alert); alert-message=\"\(TLSFault.alertName(alert))\"" }
        if let status = error.receivedStatus { text += "; received-status=\(status)" }
        text += "\r\n"
        text += "Usher-Flow: \(String(flow, radix: 16))\r\n" + date(out)
        for field in error.fields { text += "\(field)\r\n" }
        text += "Content-Type: \(wantsJSON ? "application/problem+json" : "text/plain; charset=utf-8")\r\n"
        text += "Content-Length: \(body.utf8.count)\r\n"
        text += closing ? "Connection: close\r\n\r\n" : "\r\n"
        if request.method != .head { text += body }
        out.client.append(contentsOf: text.utf8)
    }

    /// What an interceptor's `respond` says.
    static func write(
        _ answer: LocalAnswer, interceptor: String, flow: UInt64, head: Bool, closing: Bool, into out: inout Outbox
    ) {
        var text = "HTTP/1.1 \(answer.status) \(ReasonPhrase.of(answer.status))\r\n"
        for header in answer.headers { text += "\(header.name): \(header.value)\r\n" }
        text += "Proxy-Status: usher; details=\"answered by interceptor \(quoted(interceptor))\"\r\n"
        text += "Usher-Flow: \(String(flow, radix: 16))\r\n"
        if !answer.headers.contains(where: { ASCII.equal($0.name, "date") }) { text += date(out) }
        if answer.status != 204, answer.status != 304 { text += "Content-Length: \(answer.body.count)\r\n" }
        text += closing ? "Connection: close\r\n\r\n" : "\r\n"
        out.client.append(contentsOf: text.utf8)
        if !head, answer.status != 204, answer.status != 304 { out.client.append(contentsOf: answer.body) }
    }

    /// A page of `usher.proxy`. Nothing in it may come from elsewhere or run.
    static func write(
        _ page: OwnPages.Page, flow: UInt64, head: Bool, closing: Bool, into out: inout Outbox
    ) {
        var text = "HTTP/1.1 200 OK\r\n"
        text += "Proxy-Status: usher; details=\"a page of Usher's own\"\r\n"
        text += "Usher-Flow: \(String(flow, radix: 16))\r\n" + date(out)
        text += "Content-Type: \(page.type)\r\nContent-Length: \(page.body.count)\r\n"
        if let name = page.fileName { text += "Content-Disposition: attachment; filename=\"\(name)\"\r\n" }
        text += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        text += "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n"
        text += closing ? "Connection: close\r\n\r\n" : "\r\n"
        out.client.append(contentsOf: text.utf8)
        if !head { out.client.append(contentsOf: page.body) }
    }

    /// The line that says when (RFC 9110 §6.6.1).
    private static func date(_ out: borrowing Outbox) -> String {
        out.date.isEmpty ? "" : "Date: \(String(decoding: out.date, as: UTF8.self))\r\n"
    }

    private static func accepts(_ request: borrowing RequestHead, _ type: String) -> Bool {
        guard let accept = request.fields["accept"] else { return false }
        return ASCII.lowercased(accept).contains(type)
    }

    /// An sf-string (RFC 9651 §3.3.3): quotes and backslashes escaped, nothing outside printable ASCII.
    static func quoted(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": out += "\\" + String(scalar)
            case " "..."~": out.unicodeScalars.append(scalar)
            default: out += "?"
            }
        }
        return out
    }
}
