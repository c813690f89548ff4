import EventLoop
import Glibc
import HTTP1
import HTTPCodec
import Names
import TLSEngine

/// Posts spans to a collector, with one connection per batch. All calls block.
struct SpanCollector: Sendable {
    enum Outcome {
        case taken
        /// The collector rejects the batch permanently.
        case refused(String)
        /// The collector may accept the batch later.
        case failed(String)
    }

    /// The trusted certificates of TLS connections.
    typealias Trust = OriginContext

    private let head: RequestHead
    private let trust: Trust?

    /// The timeout of a batch, in milliseconds.
    static let limit = 10_000
    /// The number of bytes of a response that are read.
    private static let largest = 256 << 10

    /// - Parameter trust: called only for an https URL.
    init(_ url: String, _ trust: () throws -> Trust) throws {
        var head = try RequestHead(method: "POST", url: url)
        if head.path == "/" { try head.setPathAndQuery("/v1/traces") }
        head.fields.add("User-Agent", "usher/\(Version.usher)")
        head.fields.add("Content-Type", "application/json")
        head.fields.add("Accept", "application/json")
        head.fields.add("Connection", "close")
        self.head = head
        self.trust = head.target.scheme == .https ? try trust() : nil
    }

    var name: String { head.originText }

    func post(_ body: [UInt8], within limit: Int) -> Outcome {
        do {
            let answer = try status(of: body, limit)
            switch answer {
            case 200..<300: return .taken
            // OTLP/HTTP, "Retryable Response Codes", and a timeout
            case 408, 429, 502, 503, 504: return .failed("it responds with \(answer)")
            default: return .refused("it responds with \(answer)")
            }
        } catch let error as SystemError {
            return .failed(error.reason)
        } catch let fault as HTTPFault {
            return .failed("its response is not valid HTTP: \(fault.explanation)")
        } catch let fault as TLSFault {
            return .failed(fault.words)
        } catch {
            return .failed("\(error)")
        }
    }

    private struct Silence: Error, CustomStringConvertible { let description: String }

    private func status(of body: [UInt8], _ limit: Int) throws -> Int {
        var codec = HTTP1Client()
        let request = codec.request(head, body: body)
        let connection = try connect(limit)
        try connection.send(request)
        var left = Self.largest
        while true {
            let piece = try connection.receive()
            if piece.isEmpty {
                guard codec.ended(cleanly: true) else {
                    throw Silence(description: "it closed the connection without a response")
                }
                return codec.head.status
            }
            left -= piece.count
            guard left >= 0 else { throw Silence(description: "its response is too long") }
            var position = 0
            events: while true {
                switch try codec.read(piece.span, &position, limits: HeadLimits(), maxTrailerBytes: HeadLimits().bytes)
                {
                case .needsMore: break events
                case .interim, .data: break
                // the rest of the response does not matter
                case .head, .switched, .end: return codec.head.status
                }
            }
        }
    }

    // MARK: address

    /// Connects to the first address that accepts.
    private func connect(_ limit: Int) throws -> CollectorConnection {
        let end = Loop.monotonicMilliseconds() + limit
        var failure = SystemError("connect", code: ETIMEDOUT)
        for address in try addresses() {
            let left = end - Loop.monotonicMilliseconds()
            guard left > 0 else { break }
            let connection: BlockingConnection
            do throws(SystemError) { connection = try BlockingConnection(address, withinMilliseconds: left) } catch {
                failure = error
                continue
            }
            return try CollectorConnection(connection, host: head.host, trust: trust)
        }
        throw failure
    }

    private func addresses() throws -> [SocketAddress] {
        let port = head.target.port
        // numeric addresses, and names of this machine (RFC 6761)
        if let known = NameService.immediate(head.host, port: port) { return known }
        let (found, code) = HostLookup.addresses(head.host, port: port, flags: AI_ADDRCONFIG)
        guard code == 0 else { throw Silence(description: "\(head.host): \(String(cString: gai_strerror(code)))") }
        guard !found.isEmpty else { throw Silence(description: "\(head.host) has no address") }
        return found
    }
}
