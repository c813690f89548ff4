public import HTTPCodec

/// The span of an exchange, and the spans of the calls made for it.
public struct ExchangeTrace: Sendable {
    /// A call that Usher made itself.
    public struct Call: Sendable {
        public var span: UInt64
        public var action: Action
        public var method: String
        /// With secrets redacted.
        public var url: String
        /// 0 if there was no response.
        public var status: Int
        /// In milliseconds since the exchange began.
        public var began: Int
        public var ended: Int

        public init(
            span: UInt64, action: Action, method: String, url: String, status: Int, began: Int, ended: Int
        ) {
            self.span = span
            self.action = action
            self.method = method
            self.url = url
            self.status = status
            self.began = began
            self.ended = ended
        }
    }

    public let trace: TraceID
    /// The parent span; 0 if the trace starts here.
    public let parent: UInt64
    public let span: UInt64
    public let isSampled: Bool
    /// In milliseconds since the exchange began.
    public var began = 0
    public private(set) var calls: [Call] = []

    /// The largest number of calls that are exported for one exchange.
    private static let mostCalls = 200

    /// - Parameters:
    ///   - parent: the client's trace context, if valid.
    ///   - share: the share of new traces that are exported.
    public init(continuing parent: TraceParent?, share: Double) {
        trace = parent?.trace ?? .random()
        self.parent = parent?.parent ?? 0
        span = .random(in: 1 ... .max)
        isSampled = parent?.isSampled ?? (Double.random(in: 0..<1) < share)
    }

    private init(under parent: ExchangeTrace, began: Int) {
        trace = parent.trace
        self.parent = parent.span
        span = .random(in: 1 ... .max)
        isSampled = parent.isSampled
        self.began = began
    }

    /// The span of a call made for the exchange.
    public func child(began: Int) -> ExchangeTrace { ExchangeTrace(under: self, began: began) }

    /// The trace context sent with the request.
    public var shown: TraceParent { TraceParent(trace: trace, parent: span, isSampled: isSampled) }

    public mutating func add(_ call: Call) {
        if isSampled, calls.count < Self.mostCalls { calls.append(call) }
    }
}
