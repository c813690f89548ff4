import EventLoop
import HTTPCodec

/// Asks for a URL through a proxy, and waits.
struct ProxyClient {
    struct Fault: Error {
        let description: String
        /// Nobody listens there.
        var isRefused = false
    }

    struct Answer {
        let head: ResponseHead
        let body: [UInt8]

        /// What the proxy says where it answered itself: `Proxy-Status` (RFC 9209), as far as it holds an error.
        var proxyFault: String? {
            guard let status = head.fields["proxy-status"], status.contains("error=") else { return nil }
            guard let start = status.firstRange(of: "details=\"") else { return status }
            return String(status[start.upperBound...].prefix { $0 != "\"" })
        }

        var isUshers: Bool { head.fields["usher-flow"] != nil }
    }

    let proxy: ProxyAddress
    /// User and password of the proxy's URL, where it has them: `user:password`, decoded.
    var credentials: String?
    /// Milliseconds for one request.
    var limit = 10_000

    /// Bytes of an answer that are read.
    private static let largest = 4 << 20

    func get(_ url: String) throws(Fault) -> Answer {
        do {
            guard let address = SocketAddress(numeric: proxy.host, port: proxy.port) else {
                throw Fault(description: "\(proxy.authority) is no address")
            }
            let request = try RequestHead(method: "GET", url: url)
            let connection = try BlockingConnection(address, withinMilliseconds: limit)
            var text = "GET \(url) HTTP/1.1\r\nHost: \(request.fields.text(request.target.authority))\r\n"
            text += "User-Agent: usher-doctor\r\nAccept: */*\r\nConnection: close\r\n"
            if let credentials { text += "Proxy-Authorization: Basic \(Base64.encode(credentials.utf8))\r\n" }
            try connection.send(Array("\(text)\r\n".utf8))
            return try Self.read(connection)
        } catch let error as SystemError {
            throw Fault(description: "\(proxy.authority): \(error.reason)", isRefused: error.call == "connect")
        } catch let fault as HTTPFault {
            throw Fault(description: "\(url): \(fault.explanation)")
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(description: "\(url): \(error)")
        }
    }

    private static func read(_ connection: borrowing BlockingConnection) throws -> Answer {
        var bytes: [UInt8] = []
        func more() throws -> Bool {
            let piece = try connection.receive()
            bytes += piece
            guard bytes.count <= largest else { throw Fault(description: "the answer is too long") }
            return !piece.isEmpty
        }
        var head = ResponseHead()
        repeat {
            var parser = HeadParser()
            var used = try parser.parse(bytes.span, into: &head, limits: HeadLimits())
            while used == nil {
                guard try more() else { throw Fault(description: "the connection was closed without an answer") }
                used = try parser.parse(bytes.span, into: &head, limits: HeadLimits())
            }
            bytes.removeFirst(used ?? 0)
        } while head.isInterim
        switch try head.framing(answering: .get) {
        case .none: return Answer(head: head, body: [])
        case .untilClose:
            while try more() {}
            return Answer(head: head, body: bytes)
        case .length(let length):
            while bytes.count < length {
                guard try more() else { throw Fault(description: "the answer was cut off") }
            }
            return Answer(head: head, body: Array(bytes.prefix(Int(length))))
        case .chunked:
            var decoder = ChunkedDecoder()
            var body: [UInt8] = []
            var position = 0
            while true {
                switch try decoder.next(bytes.span, &position) {
                case .data(let range): body += bytes[range]
                case .end: return Answer(head: head, body: body)
                case .needsMore:
                    guard try more() else { throw Fault(description: "the answer was cut off") }
                }
            }
        }
    }
}
