import Interception

/// What a detour calls AM for, and whose detour it is. An object, because hardly any exchange is a call.
final class CallUnderWay {
    let call: DetourCall
    let caller: ExchangeID
    /// The limits at which its caller has a place.
    let places: [LimitKey]

    init(_ call: DetourCall, for caller: ExchangeID, places: [LimitKey]) {
        self.call = call
        self.caller = caller
        self.places = places
    }
}
