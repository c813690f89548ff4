import Interception

/// Gives every `authId` the same recorded payload.
final class DryFlows: FlowStore {
    private let payload: ActionPayload?

    init(_ payload: ActionPayload?) { self.payload = payload }

    func remember(authId: String, payload: ActionPayload) {}
    func recall(authId: String) -> ActionPayload? { payload }
}
