import Authorization
import HTTPCodec
import Interception

/// One feature's part in an exchange. It may change the request that goes out, hold the request or the response up, make calls,
/// wait, answer in the origin's place, and have the request sent again. Each part is optional; a filter that returns `proceed`
/// changes nothing.
///
/// A filter knows no other filter. `FilterRegistration` says which requests get one.
protocol Filter: AnyObject {
    /// The request, each time that it is to go out.
    func request(
        _ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext
    ) -> FilterAction
    /// The response, before the client has a byte of it.
    func response(
        _ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext
    ) -> FilterAction
    /// Something happened to what it has under way.
    /// - Returns: nil where that is not for it.
    func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction?
    /// What it has under way is nobody's any more.
    func end(_ end: FilterEnd)

    /// What it has under way; nil where nothing.
    var hold: FilterHold? { get }
    /// Set-Cookie lines for the client, whatever response it gets.
    var cookieLines: [String] { get }
}

extension Filter {
    func request(
        _ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext
    ) -> FilterAction { .proceed }
    func response(
        _ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext
    ) -> FilterAction { .proceed }
    func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction? { nil }
    func end(_ end: FilterEnd) {}
    var hold: FilterHold? { nil }
    var cookieLines: [String] { [] }
}

enum RequestStep {
    /// It is about to go out, and may be held up. Asked again, from the first filter on, when a hold is over.
    case ready
    /// It goes out now, with what is made of its head. For this sending alone: another one begins without it.
    case leaving
}

enum ResponseStep {
    /// Its head has come, and may be changed.
    case head
    /// The interceptors that come before a step-up have seen the head: `hold` has the whole of it kept.
    case offered
    /// All of it that was held is here.
    case whole(HeldResponse)
    /// It was to be held, and is too large for that. It goes to the client.
    case tooLarge
}

enum FilterEvent {
    /// The response to its call is here.
    case answered(HeldResponse)
    /// Its call, or the request that it had sent again, came to nothing.
    case failed(String)
    /// What it waits for has come, or its time has.
    case woke
}

enum FilterEnd {
    /// Another filter has decided what becomes of the exchange.
    case decided
    /// A response of that status goes to the client.
    case delivered(status: Int)
    /// The request has gone out, and its exchange ends before a response came.
    case cutShort
}

/// What a filter has under way.
struct FilterHold {
    /// A call or a wait. Otherwise the request goes out again, while it keeps a response.
    var isActive: Bool
    /// It keeps a response that the client may get yet.
    var keepsResponse = false
    /// Bytes of bodies that it keeps.
    var bytes = 0
    /// When the whole of it must be over: no wait goes past this time.
    var limit: Int?
    /// It is given up where the client closes its sending side, though it may still listen.
    var endsWithClient = false
}

/// What a filter wants done next.
enum FilterAction {
    /// The request, or the response, goes on as it is. Where something was under way, the request goes through the filters again.
    case proceed
    /// The response is kept until so many bytes of its body have come, or all.
    case hold(upTo: Int)
    /// The client gets this for the response that was looked at.
    case deliver(HeldResponse)
    /// The response of an earlier attempt goes to the client after all.
    case giveBack(HeldResponse)
    case call(FilterCall)
    /// Until that time.
    case wait(until: Int)
    /// Until a person has said a word, or that time has come.
    case ask(TransactionID, until: Int)
    /// Until somebody else has come to an end with what both need, or that time has come.
    case waitFor(FlightTicket, until: Int)
    /// The request is sent again, with this in the place of what the client sent.
    case attempt(RequestHead, body: [UInt8])
    /// The request is sent again, as it would be for the first time; this goes to the client where no attempt is left.
    case again(HeldResponse)
    /// The request goes out with this in the place of what the client sent.
    case replace(RequestHead, body: [UInt8])
    /// The client is answered here.
    case refuse(ProxyError)
}
