import Interception

/// A filter's call to AM, and the filter that made it. A class, because few exchanges are calls.
final class CallUnderWay {
    let call: FilterCall
    /// Nil when the calling exchange is over and the call still runs to its end.
    private(set) var caller: ExchangeID?
    /// The limits at which the caller holds a place.
    let places: [LimitKey]
    /// The time by which the call must end; nil when the caller enforces the time.
    private(set) var limit: Int?

    init(_ call: FilterCall, for caller: ExchangeID, places: [LimitKey]) {
        self.call = call
        self.caller = caller
        self.places = places
    }

    /// The most that a call takes after its caller has gone, in milliseconds.
    private static let longestOrphan = 60_000

    /// Whether the call goes on after its caller has gone.
    var isOrphan: Bool { limit != nil }

    /// The caller is gone. A call that has gone out, and whose response is still of use, goes on for a limited time.
    /// - Returns: false for any other call.
    func goesOn(in stage: borrowing ExchangeStage, _ out: borrowing CommandBuffer) -> Bool {
        guard let detachedCall = call.detachedCall else { return false }
        if out.isLeaving, !detachedCall.isAwaited { return false }
        switch stage.state {
        case .awaiting, .holding, .intercepting, .waiting(.called): break
        case .reading, .authenticating, .collecting, .leasing, .delivering, .deciding, .calling, .waiting, .pacing,
            .tunnelling, .over:
            return false
        }
        let limit = out.now + Self.longestOrphan
        caller = nil
        self.limit = limit
        detachedCall.detach(until: limit)
        return true
    }
}
