internal import HTTPCodec

/// Puts an answer into bytes.
struct ResponseWriter: Sendable {
    var version: HTTPVersion
    var method: Method
    /// Whether the client wants the connection kept.
    var keepsAlive: Bool

    /// - Parameter now: seconds since 1970.
    /// - Returns: the bytes, and whether the connection ends after them.
    func bytes(_ response: SandboxResponse, now: Int) -> (message: [UInt8], ends: Bool) {
        var ends = !keepsAlive
        let hasBody = response.status != 204 && response.status != 304
        var framing = ""
        switch response.body {
        case .bytes(let bytes):
            if hasBody { framing = "Content-Length: \(bytes.count)\r\n" }
        case .chunked:
            // HTTP/1.0 knows no chunks
            if version == .http11 { framing = "Transfer-Encoding: chunked\r\n" } else { ends = true }
        case .untilClose:
            ends = true
        }
        var head = "HTTP/1.1 \(response.status) \(ReasonPhrase.of(response.status))\r\n"
        head += "Date: \(CalendarTime(now).http)\r\nServer: usher-sandbox\r\n"
        for field in response.fields { head += "\(field.name): \(field.value)\r\n" }
        head += framing
        if ends { head += "Connection: close\r\n" } else if version == .http10 { head += "Connection: keep-alive\r\n" }
        var message = Array((head + "\r\n").utf8)
        if hasBody, method != .head { append(response.body, to: &message) }
        return (message, ends)
    }

    private func append(_ body: SandboxResponse.Body, to message: inout [UInt8]) {
        switch body {
        case .chunked(let bytes, let size) where version == .http11:
            var rest = bytes.span
            while !rest.isEmpty {
                message.append(chunk: rest.extracting(first: size))
                rest = rest.extracting(droppingFirst: size)
            }
            message.appendLastChunk(trailers: [])
        case .bytes(let bytes), .chunked(let bytes, _), .untilClose(let bytes):
            message += bytes
        }
    }
}
