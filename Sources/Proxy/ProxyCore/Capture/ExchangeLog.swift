import Authorization
import HTTPCodec
import Interception

/// Collects one exchange's data: its record for the log, its capture for the journal.
struct ExchangeLog: ~Copyable {
    var record = ExchangeRecord()
    let capture = FlowCapture()
    private var redaction: Redaction

    init(_ redaction: Redaction) { self.redaction = redaction }

    /// Takes over the redaction of a newer configuration.
    mutating func adopt(_ redaction: Redaction) { self.redaction = redaction }

    // MARK: events

    /// The request's head is here.
    /// - Parameter tellsProvenance: the log shows the request's `Provenance`.
    mutating func begin(_ request: borrowing RequestHead, tellsProvenance: Bool) {
        record.method.append(contentsOf: request.fields.bytes[request.methodRange.indices])
        record.version = request.version
        if tellsProvenance { record.provenance = redaction.provenance(of: request.fields) }
    }

    /// Records an event. Every event of the exchange passes here.
    mutating func tell(_ event: LogEvent, _ now: Int) {
        record.take(event.isPlain ? event : event.redacted(redaction.text), at: now - capture.began)
    }

    /// Records the interceptors' acts in a phase. A waiting phase is recorded when it ends.
    mutating func tell(of outcome: borrowing Outcome, _ phase: PhaseJudgement.Phase, _ now: Int) {
        if case .suspend = outcome.verdict { return }
        if let judgement = outcome.judgement { tell(.judged(judgement), now) }
        for change in outcome.changes { tell(.edited(change, in: phase), now) }
        for warning in outcome.warnings { tell(.warned(warning, in: phase), now) }
        for wish in outcome.throttles { tell(.throttled(interceptor: wish.interceptor, rate: wish.rate), now) }
        for logged in outcome.logged {
            tell(.logged(interceptor: logged.interceptor, redaction.line(logged)), now)
        }
        if case .respond(let local, let interceptor) = outcome.verdict {
            tell(.responded(interceptor: interceptor, status: local.status), now)
        }
    }

    /// The milliseconds that interceptors delay a message; each delay is recorded.
    mutating func drawn(_ delays: [DelayWish], _ now: Int) -> Int {
        delays.drawn().reduce(0) { sum, wait in
            if wait.milliseconds > 0 {
                tell(.delayed(interceptor: wait.interceptor, milliseconds: wait.milliseconds), now)
            }
            return sum + wait.milliseconds
        }
    }

    /// The same for the end of a response.
    mutating func held(_ ending: AnswerEnding, _ now: Int) -> Int {
        ending.holds.drawn().reduce(0) { sum, hold in
            tell(.endDelayed(interceptor: hold.interceptor, milliseconds: hold.milliseconds), now)
            return sum + hold.milliseconds
        }
    }

    /// The events since the last call.
    mutating func takeEvents() -> [ExchangeRecord.Event] {
        guard !record.events.isEmpty else { return [] }
        defer { record.events = [] }
        return record.events
    }

    /// Adds the events of a call.
    mutating func add(_ events: [ExchangeRecord.Event]) { record.events += events }

    // MARK: traces (W3C Trace Context)

    var isTraced: Bool { record.trace != nil }

    /// Continues the client's trace, or starts one. Without tracing, the client's trace fields pass unchanged.
    mutating func beginTrace(of request: inout RequestHead, _ share: Double) {
        let values = request.fields.values(named: TraceParent.fieldName)
        // several fields are invalid and count as none
        let parent = values.count == 1 ? values.first.flatMap { TraceParent($0) } : nil
        record.trace = ExchangeTrace(continuing: parent, share: share)
        // removes the state of a trace that is not continued
        if parent == nil { request.fields.remove(named: TraceParent.stateName) }
    }

    /// Writes the trace field: the recipient's span is a child of this exchange's or call's.
    func showTrace(in head: inout RequestHead) {
        guard let trace = record.trace else { return }
        head.fields.remove(named: TraceParent.fieldName)
        head.fields.add(TraceParent.fieldName, trace.shown.description)
    }

    /// Makes this call a part of its caller's trace.
    mutating func joinTrace(of caller: borrowing ExchangeLog, _ now: Int) {
        record.trace = caller.record.trace?.child(began: now - capture.began)
    }

    /// Adds a finished call to its caller's trace.
    mutating func addToTrace(_ call: borrowing Exchange, status: Int, _ now: Int) {
        guard let span = call.log.record.trace, span.isSampled, let purpose = call.call else { return }
        record.trace?.add(
            ExchangeTrace.Call(
                span: span.span, action: purpose.call.action, method: call.request.methodText,
                url: redaction.url(of: call.request), status: status, began: span.began, ended: now - capture.began))
    }
}
