import Formats
import HTTPCodec
import Interception
import TLSEngine

/// Builds the responses that Usher makes itself.
enum OwnResponse {
    /// An error: Proxy-Status (RFC 9209 §2), the flow's id, and a text in the form that the client accepts (RFC 9457 for
    /// `application/problem+json`).
    static func error(
        _ error: ProxyError, flow: UInt64, to request: borrowing RequestHead, date: [UInt8]
    ) -> LocalResponse {
        let wantsJSON = accepts(request, "application/problem+json") || accepts(request, "application/json")
        let reason = ReasonPhrase.of(error.status)
        let body: String
        if wantsJSON {
            var members: [JSONValue.Member] = [
                .init("title", .string(reason)),
                .init("status", .integer(error.status)),
                .init("detail", .string(error.details)),
                .init("error", .string(error.token)),
                .init("flow", .string(String(flow, radix: 16))),
            ]
            if let code = error.abortCode { members.append(.init("abort_code", .integer(code))) }
            body = JSONValue.object(members).serialized + "\n"
        } else {
            body = "\(error.status) \(reason)\n\nUsher: \(error.details).\n"
        }
        var status = "usher; error=\(error.token); details=\"\(quoted(error.details))\""
        if let code = error.abortCode { status += "; abort-code=\(code)" }
        if let rcode = error.rcode { status += "; rcode=\"\(rcode)\"" }
        if let alert = error.alert { status += "; alert-id=\(alert); alert-message=\"\(TLSFault.alertName(alert))\"" }
        if let received = error.receivedStatus { status += "; received-status=\(received)" }
        var head = ResponseHead(status: error.status, reason: reason)
        head.fields.add("Proxy-Status", status)
        head.fields.add("Usher-Flow", String(flow, radix: 16))
        add(date, to: &head)
        for field in error.fields { head.fields.add(field.name, field.value) }
        head.fields.add("Content-Type", wantsJSON ? "application/problem+json" : "text/plain; charset=utf-8")
        return response(head, Array(body.utf8))
    }

    /// The error for the request of an exchange.
    /// - Parameter cookies: `Set-Cookie` lines for the client.
    static func error(
        _ error: ProxyError, to info: borrowing ExchangeInfo, cookies: [String], date: [UInt8]
    ) -> LocalResponse {
        var error = error
        error.details = info.engine.redaction.text(error.details)
        for line in cookies { error.fields.append(.init("Set-Cookie", line)) }
        return Self.error(error, flow: info.log.record.flow, to: info.received.head, date: date)
    }

    /// The response of an interceptor's `respond`.
    static func local(
        _ answer: DirectResponse, interceptor: String, flow: UInt64, date: [UInt8]
    ) -> LocalResponse {
        var head = ResponseHead(status: answer.status, reason: ReasonPhrase.of(answer.status))
        for header in answer.headers { head.fields.add(header.name, header.value) }
        head.fields.add("Proxy-Status", "usher; details=\"answered by interceptor \(quoted(interceptor))\"")
        head.fields.add("Usher-Flow", String(flow, radix: 16))
        if !head.fields.contains(.date) { add(date, to: &head) }
        return response(head, answer.body)
    }

    /// A page of `usher.proxy`. It loads nothing from elsewhere and runs no script.
    static func page(_ page: OwnPages.Page, flow: UInt64, date: [UInt8]) -> LocalResponse {
        var head = ResponseHead(status: 200, reason: "OK")
        head.fields.add("Proxy-Status", "usher; details=\"a page of Usher's own\"")
        head.fields.add("Usher-Flow", String(flow, radix: 16))
        add(date, to: &head)
        head.fields.add("Content-Type", page.type)
        if let name = page.fileName { head.fields.add("Content-Disposition", "attachment; filename=\"\(name)\"") }
        head.fields.add("Cache-Control", "no-store")
        head.fields.add("X-Content-Type-Options", "nosniff")
        head.fields.add(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
        return response(head, page.body)
    }

    /// Adds Content-Length to the fields, too: a response to HEAD gives the length of a body that does not follow.
    private static func response(_ head: ResponseHead, _ body: [UInt8]) -> LocalResponse {
        var head = head
        if head.status != 204, head.status != 304 { head.fields.set("Content-Length", String(body.count)) }
        return LocalResponse(head: head, body: body)
    }

    /// Adds the `Date` field (RFC 9110 §6.6.1).
    private static func add(_ date: [UInt8], to head: inout ResponseHead) {
        if !date.isEmpty { head.fields.add("Date", String(decoding: date, as: UTF8.self)) }
    }

    private static func accepts(_ request: borrowing RequestHead, _ type: String) -> Bool {
        guard let accept = request.fields["accept"] else { return false }
        return ASCII.lowercased(accept).contains(type)
    }

    /// An sf-string (RFC 9651 §3.3.3): quotes and backslashes escaped, only printable ASCII.
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
