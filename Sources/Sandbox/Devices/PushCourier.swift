internal import EventLoop
internal import Formats
internal import HTTP1
internal import HTTPCodec

/// Delivers pushes, as a push service would, on a thread of its own.
final class PushCourier: Sendable {
    private struct Queue {
        var bodies: [[UInt8]] = []
        var isClosing = false
    }

    private let queue = Locked(Queue())
    private let thread: SystemThread
    private static let longest = 1000
    /// Milliseconds for one delivery.
    private static let timeout = 5_000

    /// - Parameter say: told how a delivery went, on the courier's thread.
    init(_ target: SandboxOptions.PushTarget, _ say: @escaping @Sendable (String) -> Void) throws(SystemError) {
        let queue = queue
        thread = try SystemThread(name: "pushes") {
            while true {
                // what is left at the end is nobody's any more
                let (body, isClosing) = queue.wait { queue -> ([UInt8], Bool)? in
                    if queue.isClosing { return ([], true) }
                    return queue.bodies.isEmpty ? nil : (queue.bodies.removeFirst(), false)
                }
                if isClosing { return }
                say("push → \(Self.deliver(body, target))")
            }
        }
    }

    func post(_ body: [UInt8]) {
        queue.signal { queue in if queue.bodies.count < Self.longest { queue.bodies.append(body) } }
    }

    func close() {
        queue.signal { $0.isClosing = true }
        thread.join()
    }

    /// - Returns: the status, or what was in the way.
    private static func deliver(_ body: [UInt8], _ target: SandboxOptions.PushTarget) -> String {
        do {
            guard let address = SocketAddress(numeric: target.host, port: target.port) else {
                return "\(target.host) is no address"
            }
            var head = try RequestHead(method: "POST", url: target.url)
            head.fields.add("Content-Type", "application/json")
            head.fields.add("Content-Length", String(body.count))
            head.fields.add("Connection", "close")
            var forwarding = Forwarding(framing: .length(UInt64(body.count)))
            forwarding.absoluteForm = target.isProxy
            forwarding.isOwn = true
            let connection = try BlockingConnection(address, withinMilliseconds: timeout)
            var leg = HTTP1Client()
            var bytes: [UInt8] = []
            leg.send(head, forwarding, to: &bytes)
            leg.write(body.span, to: &bytes)
            leg.end(to: &bytes)
            try connection.send(bytes)
            let answer = String(decoding: try connection.receive().prefix(12), as: UTF8.self)
            return String(answer.dropFirst(9))
        } catch let error as SystemError {
            return error.reason
        } catch {
            return "\(error)"
        }
    }
}
