/// What a detour calls AM for, and whose detour it is. An object, because hardly any exchange is a call.
final class CallUnderWay {
    let call: DetourCall
    let caller: ExchangeID

    init(_ call: DetourCall, for caller: ExchangeID) {
        self.call = call
        self.caller = caller
    }
}
