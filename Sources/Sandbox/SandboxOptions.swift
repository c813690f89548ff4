/// How this stand-in behaves where servers in the field differ. The defaults are those of a current AM and gateway.
public struct SandboxOptions: Sendable {
    /// A parameter of the `SSOADVICE` challenge.
    public enum AdviceParameter: String, Sendable, CaseIterable {
        case realm, advices
        case amURI = "am_uri"
    }

    /// How the advice stands in the redirect's `authIndexValue`.
    public enum AdviceSpelling: Sendable { case percentEncoded, base64URL }

    /// What a transaction asks the user for.
    public enum Strategy: Equatable, Sendable {
        /// Name and password, which must be those of the session's own user.
        case nameAndPassword
        /// The password of the session's user alone.
        case password
        /// Yes or no.
        case choice
        /// What a tree of that name asks.
        case tree(String)

        /// `credentials`, `password`, `choice`, or the name of a tree.
        public init?(_ text: String) {
            switch text {
            case "credentials": self = .nameAndPassword
            case "password": self = .password
            case "choice": self = .choice
            default:
                guard Trees.named(text) != nil else { return nil }
                self = .tree(text)
            }
        }
    }

    /// Where a push service would deliver pushes.
    public struct PushTarget: Sendable {
        public var url: String
        /// The numeric address that is connected to.
        public var host: String
        public var port: UInt16
        /// What listens there is a proxy.
        public var isProxy: Bool

        public init(url: String, host: String, port: UInt16, isProxy: Bool) {
            self.url = url
            self.host = host
            self.port = port
            self.isProxy = isProxy
        }
    }

    /// How tokens are bound to keys (RFC 9449).
    public enum ProofOfPossession: String, Sendable, CaseIterable {
        /// Where a client brings a proof.
        case offered
        /// Of all tokens.
        case required
        /// Of all tokens, and each proof carries a nonce that the server gave out.
        case nonce
    }

    /// AM's context path, without a slash at the end.
    public var basePath = "/am"
    /// Name of the session cookie, and of the header that may carry the session instead.
    public var cookieName = "iPlanetDirectoryPro"
    /// Domain attribute of the session cookie; nil makes it a cookie of the host alone.
    public var cookieDomain: String?
    public var realms = ["/", "/alpha"]
    public var directory = Directory()
    /// Lives, in seconds.
    public var lives = Lives()
    /// Wrong passwords in a row before a user is locked out for `lives.lockout`; 0: nobody ever is.
    public var lockout = 0
    public var proofs = ProofOfPossession.offered
    /// `authorize` asks for consent by a page; else it is implied.
    public var asksConsent = false
    /// What goes wrong for every request.
    public var faults: [SandboxFault] = []
    /// Where codes may be sent to besides loopback and names under `.localhost`: whole URLs.
    public var redirectURIs: [String] = []
    /// Where pushes are delivered; nil for nowhere.
    public var pushTarget: PushTarget?
    public var strategy = Strategy.nameAndPassword
    /// A failed transaction answers 401 as old mocks do. Else it answers 200 with the session's own token, which looks
    /// like success: only the replay tells.
    public var failedTransactionIsUnauthorized = false
    /// AM's URL as advice and redirects name it, without a slash at the end. Nil: the authority that the request was
    /// sent to, with `basePath`.
    public var amURL: String?
    /// `am_uri` ends in a slash.
    public var amURIEndsInSlash = true
    /// Which parameters the challenge has, in which order.
    public var adviceParameters: [AdviceParameter] = [.realm, .advices, .amURI]
    public var adviceEndsInComma = false
    public var redirectSpelling = AdviceSpelling.percentEncoded
    /// The resource that a transaction is bound to is the URL with its query (less `_txid`), or without.
    public var resourceIncludesQuery = true
    /// Longest request body that is read, in bytes. More is answered with 413.
    public var maxBodyBytes = 8 << 20

    /// How long things are good for, in seconds. The defaults are AM's.
    public struct Lives: Sendable {
        public var session = 120 * 60
        public var sessionIdle = 30 * 60
        public var transaction = 180
        public var accessToken = 3600
        public var refreshToken = 7 * 24 * 3600
        public var lockout = 60

        public init() {}
    }

    public init() {}
}
