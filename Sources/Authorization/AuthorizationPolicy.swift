public import Interception

/// `authorization:` of the configuration, ready to use.
public struct AuthorizationPolicy: Sendable {
    /// One entry of `resources`.
    public struct Resource: Sendable {
        /// A glob over the whole URL.
        public var url: String { didSet { pattern = URLPattern(url) } }
        private(set) var pattern: URLPattern
        /// In which forms an advice counts.
        public var advice: Advice.Forms
        /// The trees that an advice may ask for; nil for any of the configured realms, and for none where the advice comes
        /// in a body.
        public var trees: [TreePattern]?
        public var present: Presentation?
        /// Nil for any method, but the safe ones alone after what says that the request was carried out.
        public var replay: ReplayScope?
        /// No Gateway stands before it: AM is asked before a request goes out.
        public var isEnforced = false
        /// The form that its clients understand, who step up by themselves; nil where Usher does.
        public var translation: Advice.Source?
        /// That a body holds an advice, which `advice` does not ask for.
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

    /// How the transaction id is handed back.
    public enum Presentation: Equatable, Sendable {
        case query(String)
        case header(String)
    }

    /// Which methods are replayed: `safe` is GET and HEAD alone.
    public enum ReplayScope: String, Sendable, CaseIterable { case safe, any }
    public enum ClientAdvice: String, Sendable, CaseIterable { case pass, act }

    public var resources: [Resource]
    /// The only server that sessions are sent to, whatever a response names.
    public var server: AuthorizationServer
    public var whenClientHandlesAdvice = ClientAdvice.pass
    public var offersHeader = true
    public var presentToGateway = Presentation.query("_txid")
    public var presentToREST = Presentation.header("X-TxID")
    /// The whole step-up, in milliseconds.
    public var hold = 45_000
    /// Authenticate calls in one step-up.
    public var maxSteps = 20
    /// Calls beyond these that ask whether there is something new.
    public var maxPolls = 100
    /// Bytes of one answer of AM.
    public var maxResponseBytes = 1 << 20
    /// Bytes of a request body that is kept for the replay.
    public var maxBodyBytes = 1 << 20
    /// When logins hold off because AM refused the answers.
    public var lockout = Lockout.Limits()
    public var upgradeRounds = 1
    public var transactionRounds = 1
    public var answers: [CallbackAnswer] = []
    /// Second factors that are played for users of this server.
    public var devices: [Device] = []
    public var person = PersonPolicy()
    public var sessions = SessionPolicy()
    /// Pages of other sites whose requests are stepped up and get sessions.
    public var origins = PageOrigins()
    /// The client's id token is shown with what a step-up won.
    public var showsIDToken = false
    /// How AM is asked about resources that no Gateway stands before; nil where there are none.
    public var enforcement: Enforcement?

    public init(resources: [Resource], server: AuthorizationServer) {
        self.resources = resources
        self.server = server
    }
}
