internal import EventLoop
public import Interception
import ProxyCore

/// The memory of flows that all loops share. Bounded: the oldest are forgotten first. Asked only for calls to AM's
/// authenticate endpoint, so its lock is never on the way of a plain request.
public final class FlowTable: FlowMemory, Sendable {
    private struct Table {
        var payloads: [String: ActionPayload] = [:]
        var order: [String] = []
        var oldest = 0
    }

    private static let capacity = 4096
    private let table = Locked(Table())

    public init() {}

    public func remember(authId: String, payload: ActionPayload) {
        table.withLock { table in
            if table.payloads.updateValue(payload, forKey: authId) != nil { return }
            if table.order.count < Self.capacity {
                table.order.append(authId)
            } else {
                table.payloads[table.order[table.oldest]] = nil
                table.order[table.oldest] = authId
                table.oldest = (table.oldest + 1) % Self.capacity
            }
        }
    }

    public func recall(authId: String) -> ActionPayload? {
        table.withLock { $0.payloads[authId] }
    }
}
