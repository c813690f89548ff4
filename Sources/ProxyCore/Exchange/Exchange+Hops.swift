import Formats
import HTTPCodec
import Interception

/// Requests that go no further: one that came back, and one that has no hops left.
extension Exchange {
    /// The request names this very process in `Via` (RFC 9110 §7.6.3): sending it on would go round for ever.
    var isOwnRequest: Bool { request.fields.contains(.via) && request.fields.viaNames(engine.pseudonym) }

    mutating func refuseLoop(_ out: inout Outbox) {
        answer(
            ProxyError(
                "proxy_loop_detected", status: 508,
                "the request has been through this proxy before: something behind it sends requests back"), &out)
    }

    /// Counts a TRACE or OPTIONS down (RFC 9110 §7.6.2). True when it ends here and was answered.
    mutating func stopsHere(_ out: inout Outbox) throws(HTTPFault) -> Bool {
        guard let index = request.fields.first(.maxForwards) else { return false }
        guard let hops = UInt32(request.fields.value(index)) else { throw HTTPFault(.badFieldValue, at: 0) }
        guard hops == 0 else {
            // every attempt starts from the client's request, so it is counted down there, once
            request.fields.setValue(index, String(hops - 1))
            return false
        }
        let isTrace = request.method == .trace
        var head = ResponseHead(status: 200, reason: "OK")
        if isTrace {
            head.fields.add("Content-Type", "message/http")
        } else {
            head.fields.add("Allow", "GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH")
        }
        head.fields.add("Usher-Flow", String(record.flow, radix: 16))
        if !out.date.isEmpty { head.fields.add("Date", String(decoding: out.date, as: UTF8.self)) }
        answer(LocalResponse(head: head, body: isTrace ? reflection() : []), &out)
        return true
    }

    /// What of a request whoever reads the answer may see (RFC 9110 §9.3.8). Everything else may be a credential: names of
    /// session cookies and of fields with passwords are the configuration's and the application's.
    private static let reflected = [
        "host", "via", "max-forwards", "user-agent", "accept", "accept-charset", "accept-encoding", "accept-language",
        "cache-control", "connection", "content-length", "content-type", "date", "expect", "pragma", "te",
        "transfer-encoding", "upgrade",
    ]

    /// The request as it arrived, as far as it may be shown.
    private func reflection() -> [UInt8] {
        var text = "\(request.methodText) \(request.targetText) HTTP/1.1\r\n"
        for index in 0..<request.fields.count {
            let name = request.fields.name(index)
            guard Self.reflected.contains(where: { ASCII.equal($0, name) }) else { continue }
            text += "\(name): \(request.fields.value(index))\r\n"
        }
        return Array((text + "\r\n").utf8)
    }
}
