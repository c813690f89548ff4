public import HTTPCodec
public import Interception

extension AuthorizationServer {
    /// The reason why a call with the session may not go out after interceptors changed it, as one sentence; nil if it goes to
    /// this server.
    public func refusal(of head: RequestHead) -> String? {
        guard let place = URLPlace(url) else { return "the configured AM's URL cannot be read" }
        if let refusal = place.refusal(of: head, "the call to AM", "the configured AM") { return refusal }
        guard place.holds(head) || [.authenticate, .sessions, .push].contains(where: { paths[$0] == head.path }) else {
            return "the call to AM was directed to a path that is not under \(url)"
        }
        return nil
    }
}
