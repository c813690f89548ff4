import Interception

/// What a filter calls AM for, and whose filter it is. An object, because hardly any exchange is a call.
final class CallUnderWay {
    let call: FilterCall
    /// Nil where that exchange is over, and the call is heard to its end.
    private(set) var caller: ExchangeID?
    /// The limits at which its caller has a place.
    let places: [LimitKey]
    /// When it has to be over; nil where its caller sees to that.
    private(set) var limit: Int?

    init(_ call: FilterCall, for caller: ExchangeID, places: [LimitKey]) {
        self.call = call
        self.caller = caller
        self.places = places
    }

    /// Whoever made it is gone.
    func leave(until limit: Int) {
        caller = nil
        self.limit = limit
    }
}
