import Addresses
import HTTPCodec
import Interception

/// The PROXY protocol header that a balancer sends before the client's first byte.
extension ClientConnection {
    /// Reads the header. Nil while it is incomplete, or when it was refused.
    mutating func preface(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Int? {
        switch ProxyProtocol.read(bytes) {
        case .needsMore: return nil
        case .invalid:
            refusePreface(
                "the connection of a balancer (clients.proxy_protocol) does not begin with a header of the PROXY protocol",
                &out)
            return nil
        case .header(let count, let named):
            // no client is named: the balancer speaks for itself, and its own address counts
            if let named {
                context.source.address = IPAddress(bytes: named.address)?.unmapped
                if let address = context.source.address { context.name = address.text(withPort: named.port) }
            }
            guard let address = context.source.address, context.source.policy?.admits(address) == true else {
                refusePreface("clients.allow does not hold the address that the balancer named", &out)
                return nil
            }
            context.source.policy = nil
            guard isCounted(address, &out) else { return nil }
            enter(
                context.source.isSecure ? .awaitingHello(begun: false) : .serving,
                until: out.now + engine.settings.timeouts.idle)
            return count
        }
    }

    /// Counts the connection for the client, which was unknown when the balancer connected.
    private mutating func isCounted(_ address: IPAddress, _ out: inout Outbox) -> Bool {
        let client = ClientIdentity.network(address.clientNetwork)
        guard let share = context.share, !share.becomes(client, engine.settings.limits) else { return true }
        let error = ProxyError.tooManyOfClient("this address")
        if context.source.isSecure {
            // a client that speaks TLS would not understand an HTTP response
            refusePreface(error.details, &out)
        } else {
            let cell = recorded(&out)
            enter(.serving)
            cell.exchange.answer(error, isLast: true, &out)
            settle(cell, &out)
        }
        return false
    }

    private mutating func refusePreface(_ reason: String, _ out: inout Outbox) {
        let cell = recorded(&out)
        cell.exchange.log.tell(.failed(token: "http_request_denied", details: reason), out.now)
        cell.exchange.enter(.tunnelling)
        close(reset: false, &out)
    }

    mutating func prefaceTimedOut(_ out: inout Outbox) {
        refusePreface(
            "the header of the PROXY protocol did not arrive within timeouts.header after the balancer connected", &out)
    }
}
