/// What a request means to AM. An open set: what the SDKs name, and what `actions` of the configuration adds.
public struct Action: Hashable, Sendable {
    /// The name of an Action, such as `START_AUTHENTICATE`; a literal will do.
    public struct Kind: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        public init(stringLiteral value: String) { rawValue = value }

        public var description: String { rawValue }

        /// A request that is no known call to AM. Its name is empty.
        public static let none: Kind = ""
        public static let startAuthenticate: Kind = "START_AUTHENTICATE"
        public static let authenticate: Kind = "AUTHENTICATE"
        public static let resumeAuthenticate: Kind = "RESUME_AUTHENTICATE"
        public static let authorize: Kind = "AUTHORIZE"
        public static let exchangeToken: Kind = "EXCHANGE_TOKEN"
        public static let refreshToken: Kind = "REFRESH_TOKEN"
        public static let revokeToken: Kind = "REVOKE_TOKEN"
        public static let userInfo: Kind = "USER_INFO"
        public static let logout: Kind = "LOGOUT"
        public static let endSession: Kind = "END_SESSION"
    }

    /// Which tree is called, and how it was started. Of START_AUTHENTICATE and AUTHENTICATE.
    public struct Payload: Hashable, Sendable {
        /// The tree's name; in a step-up the document of the advice; nil for the realm's own.
        public var tree: String?
        /// `service`, `composite_advice`, or another of AM's; nil where nothing tells.
        public var type: String?

        public init(tree: String? = nil, type: String? = nil) {
            self.tree = tree
            self.type = type
        }
    }

    public var type: Kind
    public var payload: Payload?
    /// The realm as a path, `/` for the root; nil where the request names none.
    public var realm: String?

    public init(type: Kind, payload: Payload? = nil, realm: String? = nil) {
        self.type = type
        self.payload = payload
        self.realm = realm
    }
}
