import Interception

/// Every `authId` belongs to what a flow was recorded as.
final class DryFlows: FlowStore {
    private let payload: ActionPayload?

    init(_ payload: ActionPayload?) { self.payload = payload }

    func remember(authId: String, payload: ActionPayload) {}
    func recall(authId: String) -> ActionPayload? { payload }
}
