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

    /// The caller is gone; the call may go on until `limit`.
    func leave(until limit: Int) {
        caller = nil
        self.limit = limit
    }
}
