import Glibc
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
        let request = try RequestHead(method: method, url: "http://a/")
        var parser = HeadParser()
        var head = ResponseHead()
        while true {
            let bytes = received
            if let count = try parser.parse(bytes.span, into: &head, limits: HeadLimits()) {
                received.removeFirst(count)
                break
            }
            guard try receive() else { throw Trouble(call: "end", code: 0) }
        }
        return Answer(head: head, body: try body(try head.framing(answering: request.method), of: head))
    }

    private func body(_ framing: BodyFraming, of head: ResponseHead) throws -> [UInt8] {
        switch framing {
        case .none: return []
        case .length(let length):
            while received.count < Int(length) {
                guard try receive() else { throw Trouble(call: "end", code: 0) }
            }
            defer { received.removeFirst(Int(length)) }
            return Array(received[..<Int(length)])
        case .untilClose:
            while try receive() {}
            defer { received = [] }
            return received
        case .chunked:
            var decoder = ChunkedDecoder()
            var position = 0
            var out: [UInt8] = []
            while true {
                let bytes = received
                switch try decoder.next(bytes.span, &position) {
                case .data(let range): out += bytes[range]
                case .end:
                    received.removeFirst(position)
                    return out
                case .needsMore:
                    guard try receive() else { throw Trouble(call: "end", code: 0) }
                }
            }
        }
    }

    /// Whether the server has closed, with nothing left to read.
    func isAtEnd() throws -> Bool { try received.isEmpty && !receive() }
}
