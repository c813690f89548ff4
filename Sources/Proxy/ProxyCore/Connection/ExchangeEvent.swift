public import HTTPCodec
public import Interception
public import Passwords

/// Something that happens to an exchange, without bytes.
public enum ExchangeEvent {
    /// The connection to the origin is here.
    /// - sendsRaw: body bytes may be relayed to the origin unread.
    case leased(reused: Bool, sendsRaw: Bool)
    /// No connection to the origin could be made.
    case leaseFailed(LeaseFailure)
    /// The destination of a tunnel is reachable, without a connection of the tunnel's own.
    case reached
    /// The client's share has no room for a connection in the stream.
    case tunnelRefused(ClientShares.Refusal)
    /// The response on a stream is invalid HTTP.
    case originBroke(HTTPFault)
    /// The stream ended before the response was complete.
    case streamEnded(StreamEnding)
    /// The password was checked.
    case authenticated(PasswordVerdict)
    /// External code has come to its result.
    case intercepted(SwiftAnswer)
    /// What the exchange waits for has come: its turn at a limit, a person's answer, or the result of another exchange.
    case ticketCame(WaitingTicket)
}

extension ExchangeCell {
    /// - Returns: false when the exchange does not wait for that: a late event finds another exchange or stage.
    func take(_ event: ExchangeEvent, _ context: inout ClientContext, _ out: inout CommandBuffer) -> Bool {
        switch event {
        case .leased(let isReused, let sendsRaw):
            exchange.came(.leased(reused: isReused, sendsRaw: sendsRaw && stream == nil), &context, &out)
        case .leaseFailed(let failure): exchange.came(.leaseFailed(failure), &context, &out)
        case .originBroke(let fault): exchange.came(.broke(fault), &context, &out)
        case .streamEnded(let ending):
            origin.end()
            exchange.came(.ended(ending, nil), &context, &out)
        case .authenticated(let verdict):
            guard case .authenticating = exchange.stage.state else { return false }
            exchange.came(.password(verdict), &context, &out)
        case .intercepted(let answer):
            guard case .intercepting = exchange.stage.state else { return false }
            exchange.came(.code(answer), &context, &out)
        case .ticketCame(let ticket): exchange.came(.ticket(ticket), &context, &out)
        case .reached, .tunnelRefused: return false
        }
        return true
    }
}
