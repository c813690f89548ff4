import EventLoop
import Glibc
import HTTPCodec

/// The address and the token of a daemon's `admin.listen`, from `USHER_URL` and `USHER_TOKEN`.
public struct ControlURL: Sendable {
    public static let variable = "USHER_URL"
    static let tokenVariable = "USHER_TOKEN"

    let host: String
    let port: UInt16
    let token: String?

    /// - Returns: nil if the environment has no URL.
    public init?(_ environment: [String: String]) throws(ControlClient.Fault) {
        guard let text = environment[Self.variable], !text.isEmpty else { return nil }
        guard let head = try? RequestHead(method: "GET", url: text), ["", "/"].contains(head.path), head.query == nil
        else {
            throw ControlClient.Fault(
                description: "\(Self.variable) takes the address of admin.listen, such as http://127.0.0.1:3130")
        }
        guard head.target.scheme == .http else {
            throw ControlClient.Fault(
                description:
                    "\(Self.variable): admin.listen has no TLS; write http://, and use ssh -L across a network")
        }
        host = head.host
        port = head.target.port
        token = environment[Self.tokenVariable].flatMap { $0.isEmpty ? nil : $0 }
        if let token, !token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            throw ControlClient.Fault(
                description:
                    "\(Self.tokenVariable) has spaces or non-ASCII characters, which a token cannot have")
        }
    }

    /// The URL for messages.
    var shown: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// The remedy if the daemon answers 401.
    var remedy: String {
        token == nil
            ? "\(shown) requires a token: set \(Self.tokenVariable) to its admin.token"
            : "\(shown) does not accept this token: \(Self.tokenVariable) differs from its admin.token"
    }

    func connected(within limit: Int) throws(ControlClient.Fault) -> BlockingConnection {
        var failure: SystemError?
        let numeric = SocketAddress(numeric: host, port: port)
        for address in numeric.map({ [$0] }) ?? HostLookup.addresses(host, port: port).found {
            do throws(SystemError) {
                return try BlockingConnection(address, withinMilliseconds: limit)
            } catch {
                failure = failure ?? error
            }
        }
        let reason = failure?.reason ?? "the host has no address"
        throw ControlClient.Fault(
            description: "no daemon responds at \(shown) (\(Self.variable)): \(reason); see its admin.listen",
            isNobody: failure?.code == ECONNREFUSED)
    }
}
