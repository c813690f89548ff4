/// Calls that no exchange waits for.
extension ClientConnection {
    /// - Parameter report: is told what came of it: why it was not done, or nil. Not called where the connection ends before.
    public mutating func run(
        _ errand: Errand, now: Int, _ out: inout Outbox, _ report: @escaping (String?) -> Void
    ) {
        out.now = now
        let cell = nextCell(&out)
        calls.add(cell)
        let call = FilterCall(
            errand.call, to: errand.bound, maxResponseBytes: 64 << 10,
            report: { answer, reason in
                if let answer { report(errand.fault(answer)) } else { report(reason) }
            }, told: errand.told)
        // nobody has that number
        cell.exchange.becomeCall(call, for: ExchangeID(0), places: [], began: now)
        cell.exchange.beginCall(&context, &out)
        settle(cell, &out)
    }
}
