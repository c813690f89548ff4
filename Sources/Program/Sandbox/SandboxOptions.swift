/// The settings of the sandbox. The defaults match a current AM and gateway.
public struct SandboxOptions: Sendable {
    /// The questions to approve a transaction.
    public enum Strategy: Equatable, Sendable {
        /// Name and password of the session's user.
        case nameAndPassword
        /// The password of the session's user.
        case password
        /// Yes or no.
        case choice
        /// The questions of this tree.
        case tree(String)

        /// Reads `credentials`, `password` or `choice`.
        init?(word: String) {
            switch word {
            case "credentials": self = .nameAndPassword
            case "password": self = .password
            case "choice": self = .choice
            default: return nil
            }
        }

        /// Reads one of these words, or the name of a tree.
        init?(_ text: String, _ directory: Directory) {
            if let strategy = Self(word: text) {
                self = strategy
            } else {
                guard directory.tree(named: text) != nil else { return nil }
                self = .tree(text)
            }
        }
    }

    /// The endpoint that receives pushes.
    public struct PushTarget: Sendable {
        public var url: String
        /// The numeric address to connect to.
        public var host: String
        public var port: UInt16
        /// True if the address is a proxy.
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
        /// If the client sends a proof.
        case offered
        /// For all tokens.
        case required
        /// For all tokens, and each proof needs a nonce of the server.
        case nonce
    }

    /// AM's context path without a trailing slash.
    public var basePath = "/am"
    /// The name of the session cookie, and of the header that may carry the session instead.
    public var cookieName = "iPlanetDirectoryPro"
    public var realms = ["/", "/alpha"]
    public var directory = Directory()
    /// Lifetimes in seconds.
    public var lives = Lives()
    /// The wrong passwords in a row before a lockout for `lives.lockout`; 0 for never.
    public var lockout = 0
    public var proofs = ProofOfPossession.offered
    /// True if `authorize` asks for consent; otherwise consent is implied.
    public var asksConsent = false
    /// The faults of every request.
    public var faults: [SandboxFault] = []
    /// Redirect URIs besides loopback and names under `.localhost`, as whole URLs.
    public var redirectURIs: [String] = []
    /// The receiver of pushes; nil for none.
    public var pushTarget: PushTarget?
    public var strategy = Strategy.nameAndPassword
    /// What a test brings.
    public var document = SandboxDocument()
    /// True if the document may be changed by `/sandbox/admin/`.
    public var hasAdmin = false
    /// The limit of a request body in bytes. Larger ones are answered with 413.
    public var maxBodyBytes = 8 << 20

    /// Lifetimes in seconds. The defaults are AM's.
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

    /// The names of all trees.
    public var trees: [String] { known.treeNames }

    /// The directory with the document.
    var known: Directory {
        var known = directory
        known.document = document
        return known
    }

    /// Sets the questions to approve a transaction: `credentials`, `password`, `choice`, or the name of a tree.
    /// - Returns: false if it is none of them.
    public mutating func approve(by text: String) -> Bool {
        guard let found = Strategy(text, known) else { return false }
        strategy = found
        return true
    }
}
