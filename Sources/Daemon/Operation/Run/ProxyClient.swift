import EventLoop
import Formats
import HTTP1
import HTTPCodec

/// A blocking client that requests a URL through a proxy.
struct ProxyClient {
    struct Fault: Error {
        let description: String
        /// True if the connection was refused.
        var isRefused = false
    }

    struct Answer {
        let head: ResponseHead
        let body: [UInt8]

        /// The proxy's error, from `Proxy-Status` (RFC 9209) of a response that it made itself.
        var proxyFault: String? {
            guard let status = head.fields["proxy-status"], status.contains("error=") else { return nil }
            guard let start = status.firstRange(of: "details=\"") else { return status }
            return String(status[start.upperBound...].prefix { $0 != "\"" })
        }

        var isUshers: Bool { head.fields["usher-flow"] != nil }
    }

    let proxy: ProxyAddress
    /// The user and password in the proxy's URL, decoded: `user:password`.
    var credentials: String?
    /// The timeout of a request, in milliseconds.
    var limit = 10_000

    /// The number of bytes of a response that are read.
    private static let largest = 4 << 20

    func get(_ url: String) throws(Fault) -> Answer {
        do {
            guard let address = SocketAddress(numeric: proxy.host, port: proxy.port) else {
                throw Fault(description: "\(proxy.authority) is not an address")
            }
            var codec = HTTP1Client()
            let request = try ask(url, &codec)
            let connection = try BlockingConnection(address, withinMilliseconds: limit)
            try connection.send(request)
            return try Self.read(connection, &codec)
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

    private func ask(_ url: String, _ codec: inout HTTP1Client) throws(HTTPFault) -> [UInt8] {
        var head = try RequestHead(method: "GET", url: url)
        head.fields.add("User-Agent", "usher-doctor")
        head.fields.add("Accept", "*/*")
        head.fields.add("Connection", "close")
        if let credentials {
            head.fields.add("Proxy-Authorization", "Basic \(Base64.encode(credentials.utf8))")
        }
        return codec.request(head, absoluteForm: true)
    }

    /// - Parameter most: the largest response in bytes.
    static func read(
        _ connection: borrowing BlockingConnection, _ codec: inout HTTP1Client, most: Int = largest
    ) throws -> Answer {
        var head: ResponseHead?
        var body: [UInt8] = []
        var left = most
        while true {
            let piece = try connection.receive()
            if piece.isEmpty {
                guard let head else { throw Fault(description: "the connection was closed without a response") }
                guard codec.ended(cleanly: true) else { throw Fault(description: "the response was cut off") }
                return Answer(head: head, body: body)
            }
            left -= piece.count
            guard left >= 0 else { throw Fault(description: "the response is too long") }
            var position = 0
            pieces: while true {
                let event = try codec.read(
                    piece.span, &position, limits: HeadLimits(), maxTrailerBytes: HeadLimits().bytes)
                switch event {
                case .needsMore: break pieces
                case .interim: break
                case .head: head = codec.head
                case .data(let range): body += piece[range]
                case .switched, .end: return Answer(head: codec.head, body: body)
                }
            }
        }
    }
}
