import EventLoop
public import Formats
import Glibc
import HTTP1
import HTTPCodec

/// Asks the running daemon for something by its control socket, and waits.
public struct ControlClient {
    /// Nobody was asked, in words.
    public struct Fault: Error, Sendable {
        public let description: String
    }

    public enum Reply: Sendable {
        case done(JSONValue)
        /// It was not done; the daemon's words.
        case refused(status: Int, String)
    }

    private let paths: [String]

    /// Milliseconds for one request.
    private static let limit = 10_000

    /// - Parameter paths: where the socket may be; the first that somebody answers at is taken.
    public init(_ paths: [String]) { self.paths = paths }

    /// - Parameter path: with `*` in the place of what `naming` says.
    public func ask(
        _ method: String, _ path: String, naming name: String = "", body: JSONValue? = nil
    ) throws(Fault) -> Reply {
        let connection = try connected()
        do {
            let path = path.replacing("*", with: PercentCoding.encode(name))
            var leg = HTTP1Client()
            try connection.send(Self.request(method, path, body.map { Array($0.serialized.utf8) }, &leg))
            let answer = try ProxyClient.read(connection, &leg)
            return try Self.reply(answer)
        } catch let error as SystemError {
            throw Fault(description: "the daemon did not answer: \(error.reason)")
        } catch let fault as Fault {
            throw fault
        } catch {
            throw Fault(description: "what answered is no usher: \(error)")
        }
    }

    private func connected() throws(Fault) -> BlockingConnection {
        var forbidden: String?
        for path in paths {
            do throws(SystemError) {
                return try BlockingConnection(path: path, withinMilliseconds: Self.limit)
            } catch {
                if error.code == EACCES || error.code == EPERM { forbidden = forbidden ?? path }
            }
        }
        if let forbidden {
            throw Fault(
                description: "\(forbidden) may not be opened by this user: ask as the daemon's, or join its group")
        }
        throw Fault(
            description:
                "no usher answers at \(paths.joined(separator: " or ")): start one with usher serve, or name its socket with --socket"
        )
    }

    private static func request(
        _ method: String, _ path: String, _ body: [UInt8]?, _ leg: inout HTTP1Client
    ) throws(HTTPFault) -> [UInt8] {
        var head = try RequestHead(method: method, url: "http://localhost\(path)")
        head.fields.add("Accept", "application/json")
        head.fields.add("Connection", "close")
        if body != nil { head.fields.add("Content-Type", "application/json") }
        var forwarding = Forwarding(framing: body.map { .length(UInt64($0.count)) } ?? .none)
        forwarding.isOwn = true
        var out: [UInt8] = []
        leg.send(head, forwarding, to: &out)
        if let body { leg.write(body.span, to: &out) }
        leg.end(to: &out)
        return out
    }

    private static func reply(_ answer: ProxyClient.Answer) throws(Fault) -> Reply {
        guard let value = try? JSONValue(parsing: answer.body), value.members != nil else {
            throw Fault(description: "what answered is no usher: it says \(answer.head.status)")
        }
        if (200..<300).contains(answer.head.status) { return .done(value) }
        return .refused(status: answer.head.status, value["detail"]?.text ?? "refused with \(answer.head.status)")
    }
}
