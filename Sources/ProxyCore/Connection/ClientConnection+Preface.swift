import HTTPCodec
import Interception

/// What follows from a balancer's PROXY protocol header.
extension ClientConnection {
    /// Reads the header. Nil while it is incomplete, or when it was refused.
    mutating func preface(_ bytes: Span<UInt8>, _ out: inout Outbox) -> Int? {
        switch context.readPreface(bytes, engine.settings.limits) {
        case .incomplete: break
        case .refused(let reason): refusePreface(reason, &out)
        case .tooMany:
            let error = ProxyError.tooManyOfClient("this address")
            // a client that speaks TLS would not understand an HTTP response
            guard !context.source.isSecure else {
                refusePreface(error.details, &out)
                break
            }
            let cell = recorded(&out)
            enter(.serving)
            cell.exchange.answer(error, isLast: true, &out)
            settle(cell, &out)
        case .read(let count):
            enter(
                context.source.isSecure ? .awaitingHello(begun: false) : .serving,
                until: out.now + engine.settings.timeouts.idle)
            return count
        }
        return nil
    }

    private mutating func refusePreface(_ reason: String, _ out: inout Outbox) {
        let cell = recorded(&out)
        cell.exchange.log.tell(.failed(token: "http_request_denied", details: reason), out.now)
        cell.exchange.stage.enter(.tunnelling)
        close(reset: false, &out)
    }

    mutating func prefaceTimedOut(_ out: inout Outbox) {
        refusePreface(
            "the header of the PROXY protocol did not arrive within timeouts.header after the balancer connected", &out)
    }
}
