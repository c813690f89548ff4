internal import EventLoop
public import Interception
import ProxyCore
internal import TLSEngine

/// The flows of all loops. It is used only for calls to AM's authenticate endpoint, so plain requests never take its lock.
public final class FlowTable: FlowStore, Sendable {
    private let map = Locked(FlowMap())
    private let digest = KeyedDigest()

    public init() {}

    public func remember(authId: String, payload: ActionPayload) {
        guard let key = digest.tableKey(Array(authId.utf8)) else { return }
        map.withLock { $0.remember(key, payload) }
    }

    public func recall(authId: String) -> ActionPayload? {
        guard let key = digest.tableKey(Array(authId.utf8)) else { return nil }
        return map.withLock { $0.recall(key) }
    }
}
