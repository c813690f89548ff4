public import HTTPCodec

/// The span of an exchange, and those of the calls that were made for it.
public struct ExchangeTrace: Sendable {
    /// A call of Usher's own.
    public struct Call: Sendable {
        public var span: UInt64
        public var action: Action
        public var method: String
        /// Secrets in it redacted.
        public var url: String
        /// 0 where no answer came.
        public var status: Int
        /// Milliseconds since the exchange began.
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
    /// Whose child the span is; 0 where the trace begins with it.
    public let parent: UInt64
    public let span: UInt64
    public let isSampled: Bool
    /// When it began, in milliseconds since its exchange did.
    public var began = 0
    public private(set) var calls: [Call] = []

    /// More of one exchange are not told.
    private static let mostCalls = 200

    /// - Parameters:
    ///   - parent: what the client says, where that is anything.
    ///   - share: of the traces that begin here, how many are exported.
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

    /// Of a call that is made for it.
    public func child(began: Int) -> ExchangeTrace { ExchangeTrace(under: self, began: began) }

    /// What whoever gets the request is told.
    public var shown: TraceParent { TraceParent(trace: trace, parent: span, isSampled: isSampled) }

    public mutating func add(_ call: Call) {
        if isSampled, calls.count < Self.mostCalls { calls.append(call) }
    }
}
