internal import EventLoop
internal import HTTP1
internal import HTTPCodec

/// Delivers pushes one after the other, as a push service would.
final class PushCourier: Sendable {
    private let queue = WorkQueue("pushes", waiting: 1000)
    private let target: SandboxOptions.PushTarget
    private let say: @Sendable (String) -> Void
    /// The time for one delivery in milliseconds.
    private static let timeout = 5_000

    /// - Parameter say: logs the result of a delivery, on another thread.
    init(_ target: SandboxOptions.PushTarget, _ say: @escaping @Sendable (String) -> Void) {
        (self.target, self.say) = (target, say)
    }

    func post(_ body: [UInt8]) {
        try? queue.run { [target, say] in say("push → \(Self.deliver(body, target))") }
    }

    /// Ends deliveries and drops the rest.
    func close() { queue.rests(withinMilliseconds: Self.timeout, dropping: true) }

    /// - Returns: the status, or the reason of a failure.
    private static func deliver(_ body: [UInt8], _ target: SandboxOptions.PushTarget) -> String {
        do {
            guard let address = SocketAddress(numeric: target.host, port: target.port) else {
                return "\(target.host) is not an address"
            }
            var head = try RequestHead(method: "POST", url: target.url)
            head.fields.add("Content-Type", "application/json")
            head.fields.add("Content-Length", String(body.count))
            head.fields.add("Connection", "close")
            let connection = try BlockingConnection(address, withinMilliseconds: timeout)
            var codec = HTTP1Client()
            try connection.send(codec.request(head, body: body, absoluteForm: target.isProxy))
            let answer = String(decoding: try connection.receive().prefix(12), as: UTF8.self)
            return String(answer.dropFirst(9))
        } catch let error as SystemError {
            return error.reason
        } catch {
            return "\(error)"
        }
    }
}
