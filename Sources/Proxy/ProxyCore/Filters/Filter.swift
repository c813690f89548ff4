import HTTPCodec
import Interception

/// One feature's part in an exchange. It may change the request, hold the request or response, make calls, wait, respond in the
/// origin's place, or repeat the request. Each part is optional; a filter that returns `proceed` changes nothing.
///
/// A filter knows no other filter. `FilterRegistration` says which requests get one.
protocol Filter: AnyObject {
    /// Handles the request, each time before it is sent.
    func request(
        _ step: RequestStep, _ head: inout RequestHead, _ context: inout FilterContext
    ) -> FilterAction
    /// Handles the response, before any byte of it goes to the client.
    func response(
        _ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext
    ) -> FilterAction
    /// Handles an event of the filter's pending operation.
    /// - Returns: nil if the event is not for this filter.
    func event(_ event: FilterEvent, _ context: inout FilterContext) -> FilterAction?
    /// Ends the filter's pending operation.
    func end(_ end: FilterEnd)

    /// The filter's pending operation; nil if there is none.
    var hold: FilterHold? { get }
    /// Set-Cookie lines that the client gets with any response.
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
    /// The request is ready to send, and may be held. After a hold, all filters are asked again, from the first.
    case ready
    /// The request is being sent with the head as it is now. Changes apply to this attempt only.
    case leaving
}

enum ResponseStep {
    /// The response's head is here, and may be changed.
    case head
    /// The interceptors before the step-up have seen the head. To keep the whole response, return `hold`.
    case offered
    /// The whole response is here, as it was held.
    case whole(HeldResponse)
    /// The response is too large to hold. It goes to the client.
    case tooLarge
}

enum FilterEvent {
    /// The response to the filter's call is here.
    case answered(HeldResponse)
    /// The filter's call, or the request that it repeated, failed.
    case failed(String)
    /// The filter's wait is over: its event came, or its time passed.
    case woke
}

enum FilterEnd {
    /// Another filter has decided the outcome of the exchange.
    case decided
    /// A response with this status goes to the client.
    case delivered(status: Int)
    /// The request was sent, and the exchange ends before a response.
    case cutShort
}

/// A filter's pending operation.
struct FilterHold {
    /// True during a call or a wait. False while the request is repeated and the filter keeps a response.
    var isActive: Bool
    /// The filter keeps a response that may still go to the client.
    var keepsResponse = false
    /// Bytes of bodies that the filter keeps.
    var bytes = 0
    /// The time at which the operation must be over; no wait lasts longer.
    var limit: Int?
    /// The operation ends when the client closes its sending side, even if the client still reads.
    var endsWithClient = false
}

/// What the exchange does next, by the filter's decision.
enum FilterAction {
    /// Continue with the request or the response as it is. After a pending operation, the request passes the filters again.
    case proceed
    /// Hold the response until all of its body, or this many bytes, are here.
    case hold(upTo: Int)
    /// Send this response to the client in place of the one that the filter saw.
    case deliver(HeldResponse)
    /// Send the response of an earlier attempt to the client.
    case giveBack(HeldResponse)
    case call(FilterCall)
    /// Wait until this time.
    case wait(until: Int)
    /// Wait until another exchange finishes what both need, until a person answers, or until this time.
    case waitFor(WaitingTicket, until: Int)
    /// Send the request again, with this head and body in place of the client's.
    case attempt(RequestHead, body: [UInt8])
    /// Send the request again, from the client's original. The client gets this response if no attempt is left.
    case again(HeldResponse)
    /// Send this head and body in place of the client's request.
    case replace(RequestHead, body: [UInt8])
    /// Respond to the client with this error.
    case refuse(ProxyError)

    /// How many bytes of the response to hold; nil for another action.
    var held: Int? { if case .hold(let limit) = self { limit } else { nil } }
}
