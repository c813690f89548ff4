import Usher

/// Forces AM to authenticate users who already have a session.
struct ForceAuth: RequestInterceptor {
    func intercept(request: Request, action: Action) -> Request {
        guard action.type == .startAuthenticate || action.type == .authenticate else { return request }
        var request = request
        request.query["ForceAuth"] = "true"
        request.headers["Accept-Language"] = "en-GB"
        return request
    }
}
