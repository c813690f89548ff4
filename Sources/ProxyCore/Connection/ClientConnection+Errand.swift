/// Runs calls that no exchange waits for.
extension ClientConnection {
    /// - Parameter report: receives the reason of a failure, or nil. Not called if the connection ends before.
    public mutating func run(
        _ errand: Errand, now: Int, _ out: inout Outbox, _ report: @escaping (String?) -> Void
    ) {
        out.now = now
        let cell = exchanges.beginCall(engine, &out)
        let call = FilterCall(
            errand.call, to: errand.bound, maxResponseBytes: 64 << 10,
            report: { answer, reason in
                if let answer { report(errand.fault(answer)) } else { report(reason) }
            }, told: errand.told)
        // no exchange has the number 0
        cell.exchange.info.becomeCall(call, for: ExchangeID(0), places: [], began: now)
        cell.exchange.beginCall(&context, &out)
        settle(cell, &out)
    }
}
