public import HTTPCodec

/// The data about one exchange that the access log and the journal use.
public struct ExchangeRecord: Sendable {
    /// One event, in order. Each becomes a line of the log.
    public struct Event: Sendable {
        public var value: LogEvent
        /// In milliseconds since the exchange began.
        public var at: Int

        public init(_ value: LogEvent, at: Int) {
            self.value = value
            self.at = at
        }
    }

    /// Identifies the exchange in the log, in responses made by Usher, and in the journal.
    public var flow: UInt64 = 0
    public var client = ""
    /// The authenticated user of the proxy, if clients need a password.
    public var user: String?
    /// The id of the exchange's test session.
    public var testSession: String?
    /// ASCII bytes instead of a String, because every exchange is recorded and few records are read.
    public var method: [UInt8] = []
    /// The URL of the client's request in UTF-8, with secrets in the query redacted.
    public var url: [UInt8] = []
    public var status = 0
    public var action: Action?
    public var realm: String?
    public var tree: String?
    public var requestBytes: UInt64 = 0
    public var responseBytes: UInt64 = 0
    /// In milliseconds, from the request's first byte to the end of the response.
    public var milliseconds = 0
    /// The number of times the request was sent; more than one after a replay or retry.
    public var attempts = 0
    /// The RFC 9209 error token of a response made by Usher.
    public var proxyError: String?
    public var events: [Event] = []
    /// The credentials that Usher's own calls obtained.
    public var wins: Wins = []
    /// The HTTP version of the request.
    public var version = HTTPVersion.http11
    /// The HTTP version of the last response; nil if there is none.
    public var originVersion: HTTPVersion?
    /// Referer and User-Agent for the combined log format, with secrets redacted; nil if that format is not used.
    public var provenance: Provenance?
    /// The exchange's span, if traces are exported.
    public var trace: ExchangeTrace?

    public init() {}

    /// Records an event in the fields, and in the list of events if it deserves a line of its own.
    public mutating func take(_ event: LogEvent, at time: Int) {
        switch event {
        case .recognised(let action, let realm, let tree, _):
            self.action = action
            self.realm = realm
            self.tree = tree
        case .sent: attempts += 1
        case .delivered(let status): self.status = status
        case .failed(let token, _), .certificateRefused(let token, _): proxyError = token
        case .won(let win): wins.insert(win)
        default: break
        }
        if !event.isPlain { events.append(Event(event, at: time)) }
    }

    /// Resets the record for the client's next exchange and keeps its buffers.
    public mutating func reset(flow: UInt64) {
        self.flow = flow
        originVersion = nil
        if !method.isEmpty { method.removeAll(keepingCapacity: true) }
        if !url.isEmpty { url.removeAll(keepingCapacity: true) }
        status = 0
        requestBytes = 0
        responseBytes = 0
        milliseconds = 0
        attempts = 0
        // few exchanges set these, and a test is cheaper than a store
        if user != nil { user = nil }
        if testSession != nil { testSession = nil }
        if action != nil { action = nil }
        if realm != nil { realm = nil }
        if tree != nil { tree = nil }
        if proxyError != nil { proxyError = nil }
        if !events.isEmpty { events.removeAll() }
        wins = []
        if provenance != nil { provenance = nil }
        if trace != nil { trace = nil }
    }
}

/// Credentials that Usher's own calls obtained for an exchange.
public struct Wins: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A login obtained a session.
    public static let session = Wins(rawValue: 1)
    /// A token was granted.
    public static let token = Wins(rawValue: 2)
    /// A token was refreshed.
    public static let refreshedToken = Wins(rawValue: 4)
}

/// Two fields of a request, for the log's combined format.
public struct Provenance: Equatable, Sendable {
    public var referer: [UInt8]
    public var userAgent: [UInt8]

    public init(referer: [UInt8], userAgent: [UInt8]) {
        self.referer = referer
        self.userAgent = userAgent
    }
}
