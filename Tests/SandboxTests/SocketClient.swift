import Formats
import Glibc
import HTTP1
import HTTPCodec
import TestSockets

/// A blocking client: one connection, bytes as given.
final class SocketClient {
    struct Trouble: Error {
        var call: String
        var code: Int32
    }

    struct Answer {
        var head: ResponseHead
        var body: [UInt8]

        var status: Int { head.status }
        var text: String { String(decoding: body, as: UTF8.self) }
        var json: JSONValue? { try? JSONValue(parsing: body) }
    }

    private let descriptor: Int32
    private var received: [UInt8] = []

    init(port: UInt16, ipv6: Bool = false) throws {
        descriptor = try TestSocket.connected(to: port, isIPv6: ipv6)
        // a server that hangs fails the test, not the run
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Trouble(call: "send", code: errno) }
            sent += count
        }
    }

    /// Says that no more comes.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Whether something could be read right now.
    var hasBytes: Bool {
        var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return !received.isEmpty || poll(&query, 1, 0) > 0
    }

    /// False at the end of the stream.
    private func receive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw Trouble(call: "recv", code: errno) }
        received += buffer[..<count]
        return count > 0
    }

    /// The next answer, interim ones included.
    func answer(to method: String = "GET") throws -> Answer {
        var codec = HTTP1Client()
        var unused: [UInt8] = []
        codec.send(try RequestHead(method: method, url: "http://a/"), Forwarding(framing: .none), to: &unused)
        codec.end(to: &unused)
        var body: [UInt8] = []
        while true {
            let bytes = received
            received = []
            var position = 0
            reading: while true {
                switch try codec.read(bytes.span, &position, limits: HeadLimits(), maxTrailerBytes: 1024) {
                case .needsMore: break reading
                case .head: break
                case .data(let range): body += bytes[range]
                case .interim, .switched, .end:
                    received = Array(bytes[position...])
                    return Answer(head: codec.head, body: body)
                }
            }
            if try receive() { continue }
            guard codec.ended(cleanly: true) else { throw Trouble(call: "end", code: 0) }
            return Answer(head: codec.head, body: body)
        }
    }

    /// Whether the server has closed, with nothing left to read.
    func isAtEnd() throws -> Bool { try received.isEmpty && !receive() }
}
