public import HTTPCodec
public import Interception

extension AuthorizationServer {
    /// Why a call that carries the session may not go out as interceptors left it, one sentence; nil where it goes to
    /// this server.
    public func refusal(of head: RequestHead) -> String? {
        guard let place = URLPlace(url) else { return "the configured AM's URL cannot be read" }
        guard place.isOrigin(of: head) else {
            return
                "the call to AM was directed to \(head.target.scheme.name)://\(head.fields.text(head.target.authority))"
                + ", which is not the configured AM"
        }
        guard place.holds(head) || head.path == paths[.authenticate] else {
            return "the call to AM was directed to a path that is not under \(url)"
        }
        // behind a shared front end it is this field that decides who gets the request
        for value in head.fields.values(named: "Host") {
            var named = head
            guard (try? named.adopt(authority: value, scheme: head.target.scheme)) != nil, place.isOrigin(of: named)
            else { return "the call to AM names \(LogText.shown(value)) in Host, which is not the configured AM" }
        }
        return nil
    }
}
