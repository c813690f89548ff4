public import Interception

/// The `authorization` section of the configuration, ready to use.
public struct AuthorizationPolicy: Sendable {
    /// One entry of `resources`.
    public struct Resource: Sendable {
        /// A glob for the whole URL.
        public var url: String { didSet { pattern = URLPattern(url) } }
        private(set) var pattern: URLPattern
        /// The forms of advice that count.
        public var advice: Advice.Forms
        /// The trees that an advice may ask for. Nil allows any tree of the configured realms, and none if the advice comes in a
        /// body.
        public var trees: [TreePattern]?
        public var present: Presentation?
        /// Nil replays any method, but only safe ones if the response says that the request was carried out.
        public var replay: ReplayScope?
        /// True if no Gateway protects the resource. Usher asks AM before the request goes out.
        public var isEnforced = false
        /// The form of advice for clients that step up by themselves; nil if Usher steps up.
        public var translation: Advice.Source?
        /// Logs once that a body holds an advice although `advice` does not include `body`.
        public let bodyNotice = OnceNotice()

        public init(
            url: String, advice: Advice.Forms = .standard, trees: [TreePattern]? = nil, present: Presentation? = nil,
            replay: ReplayScope? = nil
        ) {
            self.url = url
            pattern = URLPattern(url)
            self.advice = advice
            self.trees = trees
            self.present = present
            self.replay = replay
        }
    }

    /// The part of the request that presents the transaction id.
    public enum Presentation: Equatable, Sendable {
        case query(String)
        case header(String)
    }

    /// The methods that are replayed; `safe` means GET and HEAD.
    public enum ReplayScope: String, Sendable, CaseIterable { case safe, any }
    public enum ClientAdvice: String, Sendable, CaseIterable { case pass, act }

    public var resources: [Resource]
    /// The only server that receives sessions, whatever a response names.
    public var server: AuthorizationServer
    public var whenClientHandlesAdvice = ClientAdvice.pass
    public var offersHeader = true
    public var presentToGateway = Presentation.query("_txid")
    public var presentToREST = Presentation.header("X-TxID")
    /// The time limit of a whole step-up, in milliseconds.
    public var hold = 45_000
    /// The limit of authenticate calls in one step-up.
    public var maxSteps = 20
    /// The limit of additional calls that poll for news.
    public var maxPolls = 100
    /// The limit of one AM response, in bytes.
    public var maxResponseBytes = 1 << 20
    /// The limit of a request body that is buffered for the replay, in bytes.
    public var maxBodyBytes = 1 << 20
    /// The limits of refusals by AM before logins pause.
    public var lockout = Lockout.Limits()
    public var upgradeRounds = 1
    public var transactionRounds = 1
    public var answers: [CallbackAnswer] = []
    /// Second factors that Usher simulates for users of this server.
    public var devices: [Device] = []
    public var person = PersonPolicy()
    public var sessions = SessionPolicy()
    /// Pages of other sites whose requests are stepped up and receive sessions.
    public var origins = PageOrigins()
    /// True if the client's id token is presented with the result of a step-up.
    public var showsIDToken = false
    /// The questions to AM about resources without a Gateway; nil if there are none.
    public var enforcement: Enforcement?

    public init(resources: [Resource], server: AuthorizationServer) {
        self.resources = resources
        self.server = server
    }
}
