/// What is kept of one exchange for the access log, and of what happened on its way.
public struct ExchangeRecord: Sendable {
    /// One thing that happened, in order; becomes one line of the log.
    public struct Event: Sendable {
        public enum Kind: String, Sendable {
            /// The request, or a call of Usher's own, was recognised.
            case action
            /// An interceptor changed something, answered or aborted.
            case interceptor
            case advice
            /// A call to AM in a step-up and its answer.
            case authenticate
            case replay
            /// Why a step-up was not done or not finished; why an answer was made here.
            case note
        }

        public var kind: Kind
        /// One sentence without secrets.
        public var text: String
        /// Milliseconds since the exchange began.
        public var at: Int

        public init(_ kind: Kind, _ text: String, at: Int) {
            self.kind = kind
            self.text = text
            self.at = at
        }
    }

    /// Identifies the exchange in log, answers made here and, later, the journal.
    public var flow: UInt64 = 0
    public var client = ""
    /// Who asked, where clients have to show a password and this one's was right.
    public var user: String?
    /// ASCII. Bytes, not text, because every exchange is recorded and few records are ever read.
    public var method: [UInt8] = []
    /// The URL as the client asked for it, secrets in the query redacted. UTF-8.
    public var url: [UInt8] = []
    public var status = 0
    public var action: Action?
    public var realm: String?
    public var tree: String?
    public var requestBytes: UInt64 = 0
    public var responseBytes: UInt64 = 0
    /// Milliseconds from the request's first byte to the end of its answer.
    public var milliseconds = 0
    /// Times the request went to its origin; more than one after a replay.
    public var attempts = 0
    /// RFC 9209 error token of an answer made here.
    public var proxyError: String?
    public var events: [Event] = []

    public init() {}

    /// Empties the record for the next exchange of the same client, keeping its buffers.
    public mutating func reset(flow: UInt64) {
        self.flow = flow
        user = nil
        method.removeAll(keepingCapacity: true)
        url.removeAll(keepingCapacity: true)
        status = 0
        action = nil
        realm = nil
        tree = nil
        requestBytes = 0
        responseBytes = 0
        milliseconds = 0
        attempts = 0
        proxyError = nil
        if !events.isEmpty { events.removeAll() }
    }
}
