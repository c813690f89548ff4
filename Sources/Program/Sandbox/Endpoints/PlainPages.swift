internal import HTTPCodec

/// Pages without a gateway, to test proxies.
///
/// | Path under `/plain` | Response |
/// |---|---|
/// | `echo` | the request as JSON |
/// | `bytes/N` | N bytes with Content-Length |
/// | `chunked/N/SIZE` | N bytes, chunked, in pieces of SIZE |
/// | `status/NNN` | that status, with a short body if one is allowed |
/// | `slow/MS` | a response after so many milliseconds |
/// | `close` | a body that ends with the connection |
/// | `redirect` | 302 to `echo` |
/// | `try` | a page to try the gateway in a browser |
enum PlainPages {
    /// The limit of a body in bytes.
    private static let maxBytes = 64 << 20
    /// The limit of a delay in milliseconds.
    private static let maxDelay = 60_000

    static func answer(_ request: SandboxRequest) -> SandboxResponse {
        let segments = request.segments.dropFirst()
        let numbers = segments.dropFirst().map { Int($0) ?? -1 }
        switch (segments.first, numbers.count) {
        case ("echo", 0):
            return .json(200, request.echo(url: request.head.url), note: "echo")
        case ("bytes", 1) where 0...maxBytes ~= numbers[0]:
            return filled(.bytes(pattern(numbers[0])), note: "\(numbers[0]) bytes")
        case ("chunked", 2) where 0...maxBytes ~= numbers[0] && numbers[1] > 0:
            return filled(.chunked(pattern(numbers[0]), size: numbers[1]), note: "\(numbers[0]) bytes in chunks")
        case ("status", 1) where 200...599 ~= numbers[0]:
            let status = numbers[0]
            guard status != 204, status != 304 else { return SandboxResponse(status, note: "as asked") }
            return .text(status, "\(status) \(ReasonPhrase.of(status))\n", note: "as asked")
        case ("slow", 1) where 0...maxDelay ~= numbers[0]:
            var response = SandboxResponse.text(200, "waited \(numbers[0]) ms\n", note: "after \(numbers[0]) ms")
            response.delay = numbers[0]
            return response
        case ("close", 0):
            return filled(.untilClose(pattern(1000)), note: "1000 bytes, then the connection closes")
        case ("redirect", 0):
            return .redirect(302, to: "/plain/echo", note: "sent to /plain/echo")
        case ("try", 0):
            return .html(TryPage.text, note: "page for experiments")
        default:
            return .text(404, "Nothing is here.\n", note: "no such page")
        }
    }

    private static func filled(_ body: SandboxResponse.Body, note: String) -> SandboxResponse {
        SandboxResponse(200, note: note, fields: [("Content-Type", "application/octet-stream")], body: body)
    }

    /// Bytes that show their position: 0 to 250, repeated. 251 is a prime, so a missing piece of any power of two is visible.
    static func pattern(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            for index in 0..<count { buffer.initializeElement(at: index, to: UInt8(truncatingIfNeeded: index % 251)) }
            filled = count
        }
    }
}
