/// The meaning of a request to AM. An open set: the names of the SDKs, and those that `actions` of the configuration adds.
public struct Action: Hashable, Sendable {
    /// The name of an Action, such as `START_AUTHENTICATE`. String literals convert to it.
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

    /// The tree of START_AUTHENTICATE and AUTHENTICATE, and how it was started.
    public struct Payload: Hashable, Sendable {
        /// The tree's name; in a step-up, the advice document; nil for the realm's default tree.
        public var tree: String?
        /// `service`, `composite_advice` or another type of AM; nil if unknown.
        public var type: String?

        public init(tree: String? = nil, type: String? = nil) {
            self.tree = tree
            self.type = type
        }
    }

    public var type: Kind
    public var payload: Payload?
    /// The realm as a path, `/` for the root; nil if the request names none.
    public var realm: String?

    public init(type: Kind, payload: Payload? = nil, realm: String? = nil) {
        self.type = type
        self.payload = payload
        self.realm = realm
    }
}
