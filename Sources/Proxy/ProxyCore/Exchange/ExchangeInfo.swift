import Authorization
import HTTPCodec
import Interception

/// The part of an exchange that all its other parts use: its request, stage, filters and log.
struct ExchangeInfo: ~Copyable {
    private(set) var id: ExchangeID
    private(set) var engine: Engine
    /// Nil when the exchange belongs to no test session.
    private(set) var testSession: TestSession?
    var stage = ExchangeStage()
    /// The call, when the exchange is a filter's call.
    private(set) var calling: CallUnderWay?
    var received = ReceivedRequest()
    var classification: Classification?
    /// State that interceptors keep for the lifetime of the exchange.
    var state: ExchangeState?
    /// Nil when no filter registered for the request.
    var filters: FilterChain?
    var retries = RetryLedger()
    var log: ExchangeLog

    init(_ id: ExchangeID, _ engine: Engine) {
        self.id = id
        self.engine = engine
        log = ExchangeLog(engine.redaction)
    }

    /// Prepares for another exchange. Buffers are kept.
    mutating func renew(_ id: ExchangeID, _ engine: Engine) {
        self.id = id
        adopt(engine)
        calling = nil
        classification = nil
        retries = RetryLedger()
        stage.enter(.reading, until: .max)
    }

    /// Adopts another generation of the configuration.
    mutating func adopt(_ engine: Engine) {
        self.engine = engine
        log.adopt(engine.redaction)
    }

    /// Joins a test session: its rules and stores apply to the rest of the exchange.
    mutating func enter(_ session: TestSession) {
        testSession = session
        log.record.testSession = session.id
        adopt(session.engine)
    }

    /// The largest head buffer to keep, in bytes.
    static let keptCapacity = 16 << 10

    /// Releases shared objects, large buffers, and the secrets of a call: its session and passwords.
    mutating func rest() {
        received.body.reset(.none)
        if calling != nil { received.body.bytes = [] }
        if calling != nil || received.head.fields.bytes.capacity > Self.keptCapacity { received.head = RequestHead() }
        if log.record.url.capacity > Self.keptCapacity { log.record.url = [] }
        calling = nil
        testSession = nil
        state = nil
        filters = nil
        stage.enter(.over(.complete), until: .max)
    }

    /// Logs the head of the request.
    mutating func logHead() { log.begin(received.head, tellsProvenance: engine.settings.disclosure.tellsProvenance) }

    // MARK: calls

    var terms: RouterTerms { calling == nil ? .client : .call }
    var call: FilterCall? { calling?.call }

    /// - Parameters:
    ///   - places: the limits at which the calling exchange holds a place.
    ///   - began: when the calling exchange began.
    mutating func becomeCall(
        _ call: FilterCall, for caller: ExchangeID, in testSession: TestSession?, places: [LimitKey], began: Int
    ) {
        calling = CallUnderWay(call, for: caller, places: places)
        log.capture.began = began
        log.record.reset(flow: 0)
        if let testSession { enter(testSession) }
    }

    /// Receives the request of the call.
    mutating func receiveCall(_ now: Int) {
        guard let made = call else { return }
        received.head = made.call.head
        // the classifier and the rules look only at the head to see whether there is a body
        received.head.fields.set("Content-Length", String(made.call.body.count))
        // the caller knows the Action, and a call needs no lookup of the flow that it belongs to
        classification = engine.classifier.own(received.head, made.call.action, made.call.payload)
        log.tell(made.told(engine.redaction.url(of: received.head)), now)
        received.body.keep(made.call.body)
    }
}
