import Authorization
import HTTPCodec
import Interception

/// The trace that an exchange belongs to (W3C Trace Context). Without tracing, the client's fields pass as any others do.
extension Exchange {
    var isTraced: Bool { record.trace != nil }

    /// Continues the client's trace, or begins one.
    mutating func beginTrace() {
        guard let share = engine.settings.disclosure.traceShare else { return }
        let values = request.fields.values(named: TraceParent.fieldName)
        // several are none
        let parent = values.count == 1 ? values.first.flatMap { TraceParent($0) } : nil
        record.trace = ExchangeTrace(continuing: parent, share: share)
        // what belongs to a trace that is not continued goes no further
        if parent == nil { request.fields.remove(named: TraceParent.stateName) }
    }

    /// Whoever gets the request is a child of this exchange's span, or of this call's.
    func showTrace(in head: inout RequestHead) {
        guard let trace = record.trace else { return }
        head.fields.remove(named: TraceParent.fieldName)
        head.fields.add(TraceParent.fieldName, trace.shown.description)
    }

    /// This call is a part of what its caller is about.
    mutating func joinTrace(of caller: borrowing Exchange, _ now: Int) {
        record.trace = caller.record.trace?.child(began: now - capture.began)
    }

    /// A call that is over stands in its caller's trace.
    mutating func addToTrace(_ call: borrowing Exchange, status: Int, _ now: Int) {
        guard let span = call.record.trace, span.isSampled, let purpose = call.call else { return }
        record.trace?.add(
            ExchangeTrace.Call(
                span: span.span, action: purpose.call.action, method: call.request.methodText,
                url: engine.redaction.url(of: call.request), status: status, began: span.began,
                ended: now - capture.began))
    }
}
