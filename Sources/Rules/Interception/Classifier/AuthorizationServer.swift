/// One entry of `am:` in the configuration.
public struct AuthorizationServer: Equatable, Sendable {
    /// An endpoint whose path the configuration may replace (`am[].paths`).
    public enum Endpoint: String, CaseIterable, Sendable {
        case authenticate, authorize, accessToken = "access_token", revoke, userInfo = "userinfo", sessions
        case endSession = "end_session", pushedAuthorization = "par", push
    }

    /// The base URL for Usher's own calls, without a trailing slash: `https://am.example.com/am`.
    public var url: String
    /// The lower-case host of `url` without a port. Requests to it are classified.
    public var host: String
    /// The realms in which Usher may authenticate, as paths. The first is the default.
    public var realms: [String]
    /// The name of the session cookie, and of the header field that may carry the session instead.
    public var cookie: String
    /// Replaced paths, starting at the host's root.
    public var paths: [Endpoint: String]
    /// The URLs of pages on other hosts that sign users in at this server.
    public var loginPages: [String]

    public init(
        url: String, host: String, realms: [String] = ["/"], cookie: String = "iPlanetDirectoryPro",
        paths: [Endpoint: String] = [:], loginPages: [String] = []
    ) {
        self.url = url
        self.host = host
        self.realms = realms
        self.cookie = cookie
        self.paths = paths
        self.loginPages = loginPages
    }
}
