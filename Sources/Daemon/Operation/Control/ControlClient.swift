import EventLoop
public import Formats
import Glibc
import HTTP1
import HTTPCodec

/// A blocking client of a running daemon's admin API, over the control socket or TCP.
public struct ControlClient {
    /// The request failed, with a message.
    public struct Fault: Error, Sendable {
        public let description: String
        /// No daemon is running.
        public var isNobody = false
        /// The daemon closed the connection without a response.
        public var hasHungUp = false
    }

    public enum Reply: Sendable {
        case done(JSONValue)
        /// The daemon refused the request, with its message: one line for each fault.
        case refused(status: Int, String)
    }

    private enum Place {
        case sockets([String])
        case network(ControlURL)
    }

    private let place: Place

    /// The timeout of one request, in milliseconds.
    private static let limit = 10_000
    /// The largest response in bytes. A flow with all of its messages is large.
    private static let largest = 256 << 20

    /// - Parameter paths: possible sockets. The first that accepts a connection is used.
    public init(_ paths: [String]) { place = .sockets(paths) }

    public init(_ url: ControlURL) { place = .network(url) }

    /// - Parameters:
    ///   - path: `*` is replaced by `naming`.
    ///   - limit: the timeout of the response, in milliseconds.
    public func ask(
        _ method: String, _ path: String, naming name: String = "", body: JSONValue? = nil, within limit: Int? = nil
    ) throws(Fault) -> Reply {
        let connection = try connected(limit ?? Self.limit)
        return try understood("the daemon did not respond") {
            let path = path.replacing("*", with: PercentCoding.encode(name))
            var codec = HTTP1Client()
            try connection.send(request(method, path, body.map { Array($0.serialized.utf8) }, &codec))
            return try reply(try ProxyClient.read(connection, &codec, most: Self.largest))
        }
    }

    /// Converts the errors of a conversation.
    /// - Parameter silence: the message if the connection fails.
    private func understood<Result>(_ silence: String, _ talk: () throws -> Result) throws(Fault) -> Result {
        do {
            return try talk()
        } catch let error as SystemError {
            let hasHungUp = [ECONNRESET, EPIPE].contains(error.code)
            throw Fault(description: "\(silence): \(error.reason)", hasHungUp: hasHungUp)
        } catch let fault as Fault {
            throw fault
        } catch {
            let reason = (error as? ProxyClient.Fault)?.description ?? (error as? HTTPFault)?.explanation ?? "\(error)"
            throw Fault(description: "the response is not from usher: \(reason)")
        }
    }

    // MARK: events

    /// In milliseconds. A stream without any data for this long, not even a keep-alive, counts as ended.
    private static let silence = 60_000

    /// Follows a stream of events until its end.
    /// - Parameter take: receives the name and the data of an event; false ends the stream.
    /// - Returns: the refusal; nil if the stream was followed.
    public func follow(_ path: String, _ take: (String, JSONValue) -> Bool) throws(Fault) -> Reply? {
        let connection = try connected(Self.silence)
        return try understood("the daemon sends nothing more") {
            var codec = HTTP1Client()
            try connection.send(request("GET", path, nil, &codec))
            var events = EventReader()
            var problem: [UInt8] = []
            while true {
                let piece = try connection.receive(withinMilliseconds: Self.silence)
                if piece.isEmpty { return nil }
                var position = 0
                pieces: while true {
                    switch try codec.read(piece.span, &position, limits: HeadLimits(), maxTrailerBytes: 1 << 10) {
                    case .needsMore: break pieces
                    case .interim, .head: break
                    case .data(let range) where codec.head.status == 200:
                        for event in events.take(piece[range]) where !take(event.name, event.data) { return nil }
                    case .data(let range): problem += piece[range].prefix(1 << 16)
                    case .switched, .end:
                        guard codec.head.status != 200 else { return nil }
                        return try reply(ProxyClient.Answer(head: codec.head, body: problem))
                    }
                }
            }
        }
    }

    private func connected(_ limit: Int) throws(Fault) -> BlockingConnection {
        switch place {
        case .sockets(let paths): try connected(paths, limit)
        case .network(let url): try url.connected(within: limit)
        }
    }

    private func connected(_ paths: [String], _ limit: Int) throws(Fault) -> BlockingConnection {
        var forbidden: String?
        var isNobody = true
        for path in paths {
            do throws(SystemError) {
                return try BlockingConnection(path: path, withinMilliseconds: limit)
            } catch {
                if error.code != ENOENT, error.code != ECONNREFUSED { isNobody = false }
                if error.code == EACCES || error.code == EPERM { forbidden = forbidden ?? path }
            }
        }
        if let forbidden {
            throw Fault(
                description:
                    "\(forbidden) may not be opened by this user: \(SocketAccess.remedy(for: forbidden, user: ProcessEnvironment.all["USER"]))"
            )
        }
        throw Fault(
            description:
                "no daemon responds at \(paths.joined(separator: " or ")): start one with usher serve, or name its "
                + "socket with --socket",
            isNobody: isNobody
        )
    }

    private func request(
        _ method: String, _ path: String, _ body: [UInt8]?, _ codec: inout HTTP1Client
    ) throws(HTTPFault) -> [UInt8] {
        var head = try RequestHead(method: method, url: "http://localhost\(path)")
        head.fields.add("Accept", "application/json")
        head.fields.add("Connection", "close")
        if case .network(let url) = place, let token = url.token {
            head.fields.add("Authorization", "Bearer \(token)")
        }
        if body != nil { head.fields.add("Content-Type", "application/json") }
        return codec.request(head, body: body)
    }

    private func reply(_ answer: ProxyClient.Answer) throws(Fault) -> Reply {
        if case .network(let url) = place, answer.head.status == 401 { throw Fault(description: url.remedy) }
        guard let value = try? JSONValue(parsing: answer.body), value.members != nil else {
            throw Fault(description: "the response is not from usher: it has status \(answer.head.status)")
        }
        if (200..<300).contains(answer.head.status) { return .done(value) }
        let faults = value["faults"]?.items?.map(StatusReport.line) ?? []
        let words = faults.isEmpty ? [value["detail"]?.text ?? "refused with status \(answer.head.status)"] : faults
        return .refused(status: answer.head.status, words.joined(separator: "\n"))
    }
}
