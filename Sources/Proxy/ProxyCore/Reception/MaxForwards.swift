import Formats
import HTTPCodec

/// Decrements Max-Forwards of a TRACE or OPTIONS (RFC 9110 §7.6.2).
enum MaxForwards {
    /// - Returns: the response of the last hop; nil when the request goes on with one hop less.
    static func answer(to request: inout RequestHead, flow: UInt64, date: [UInt8]) throws(HTTPFault) -> LocalResponse? {
        guard let index = request.fields.first(.maxForwards) else { return nil }
        guard let hops = UInt32(request.fields.value(index)) else { throw HTTPFault(.badFieldValue, at: 0) }
        guard hops == 0 else {
            // every attempt starts from the client's request, so decrement it once, here
            request.fields.setValue(index, String(hops - 1))
            return nil
        }
        let isTrace = request.method == .trace
        var head = ResponseHead(status: 200, reason: "OK")
        if isTrace {
            head.fields.add("Content-Type", "message/http")
        } else {
            head.fields.add("Allow", "GET, HEAD, POST, PUT, DELETE, CONNECT, OPTIONS, TRACE, PATCH")
        }
        head.fields.add("Usher-Flow", String(flow, radix: 16))
        if !date.isEmpty { head.fields.add("Date", String(decoding: date, as: UTF8.self)) }
        return LocalResponse(head: head, body: isTrace ? reflection(of: request) : [])
    }

    /// The fields that a TRACE response may reflect (RFC 9110 §9.3.8). Any other may be a credential: the names of
    /// session cookies and of fields with passwords depend on configuration and application.
    private static let reflected = [
        "host", "via", "max-forwards", "user-agent", "accept", "accept-charset", "accept-encoding", "accept-language",
        "cache-control", "connection", "content-length", "content-type", "date", "expect", "pragma", "te",
        "transfer-encoding", "upgrade",
    ]

    /// The request as received, with only those fields.
    private static func reflection(of request: RequestHead) -> [UInt8] {
        var text = "\(request.methodText) \(request.targetText) HTTP/1.1\r\n"
        for index in 0..<request.fields.count {
            let name = request.fields.name(index)
            guard reflected.contains(where: { ASCII.equal($0, name) }) else { continue }
            text += "\(name): \(request.fields.value(index))\r\n"
        }
        return Array((text + "\r\n").utf8)
    }
}
