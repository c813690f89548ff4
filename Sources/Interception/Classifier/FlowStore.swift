/// Remembers which `authId` belongs to which start, for servers whose `authId` tells nothing by itself. Shared by all
/// loops and bounded; whoever implements it sees to both.
public protocol FlowStore: AnyObject {
    func remember(authId: String, payload: ActionPayload)
    func recall(authId: String) -> ActionPayload?
}
