/// Maps `authId`s to the start of their journey, for servers with opaque `authId`s. Implementations are thread-safe, shared by
/// all loops, and bounded.
public protocol FlowStore: AnyObject {
    func remember(authId: String, payload: ActionPayload)
    func recall(authId: String) -> ActionPayload?
}
