public import Interception

/// The flows of all loops. It is used only for calls to AM's authenticate endpoint, so plain requests never take its lock.
typealias FlowTable = SharedLedger<FlowMap>

extension FlowTable: FlowStore {
    public func remember(authId: String, payload: ActionPayload) {
        guard let key = digest(Array(authId.utf8)) else { return }
        change { $0.remember(key, payload) }
    }

    public func recall(authId: String) -> ActionPayload? {
        digest(Array(authId.utf8)).flatMap { key in change { $0.recall(key) } }
    }
}
