public import HTTPCodec

/// What is kept of one exchange for the access log, and of what happened on its way.
public struct ExchangeRecord: Sendable {
    /// One thing that happened, in order; becomes one line of the log.
    public struct Event: Sendable {
        public var moment: ExchangeMoment
        /// Milliseconds since the exchange began.
        public var at: Int

        public init(_ moment: ExchangeMoment, at: Int) {
            self.moment = moment
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
    /// What Usher had for it by calls of its own.
    public var wins: Wins = []
    /// Of the request as it came.
    public var version = HTTPVersion.http11
    /// Of the answer that came last; nil where no origin has answered.
    public var originVersion: HTTPVersion?
    /// Whence the client came and what it calls itself, where the log tells that. Secrets in them redacted.
    public var provenance: Provenance?
    /// The trace that it belongs to, where traces are exported.
    public var trace: ExchangeTrace?

    public init() {}

    /// Takes in what happened: what every line of the log says, and what is worth a line of its own.
    public mutating func take(_ moment: ExchangeMoment, at time: Int) {
        switch moment {
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
        if !moment.isPlain { events.append(Event(moment, at: time)) }
    }

    /// Empties the record for the next exchange of the same client, keeping its buffers.
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
        // few exchanges have any of these
        if user != nil { user = nil }
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

/// What exchanges had by calls of Usher's own.
public struct Wins: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A login won a session.
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
