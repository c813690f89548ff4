/// One entry of `am:` in the configuration.
public struct AuthorizationServer: Equatable, Sendable {
    /// An endpoint whose path a configuration may replace (`am[].paths`).
    public enum Endpoint: String, CaseIterable, Sendable {
        case authenticate, authorize, accessToken = "access_token", revoke, userInfo = "userinfo", sessions
        case endSession = "end_session", pushedAuthorization = "par", push
    }

    /// Base URL without a slash at the end, for Usher's own calls: `https://am.example.com/am`.
    public var url: String
    /// Lower-case host of `url`, without port: requests to it are classified.
    public var host: String
    /// Realms that Usher may authenticate in, each as a path; the first is the default.
    public var realms: [String]
    /// Name of the session cookie, and of the header that may carry the session instead.
    public var cookie: String
    /// Replaced paths, from the host's root.
    public var paths: [Endpoint: String]
    /// URLs of pages elsewhere that sign users in for this server.
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
