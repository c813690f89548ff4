import HTTPCodec
import Interception

/// Prepares an attempt: its destination, the kind of connection, and the head to send.
extension Attempt {
    /// The request head to send.
    func sent(_ request: borrowing RequestHead) -> RequestHead { if let head { head } else { copy request } }

    func version(of received: borrowing ReceivedRequest, _ engine: Engine, _ terms: RouterTerms) -> LeaseVersion {
        let upgrades = if let head { engine.mayUpgrade(head) } else { engine.mayUpgrade(received.head) }
        if terms.hasClient, upgrades { return isBinding ? .http1 : .upgrade }
        return isBinding ? .oldest : .any
    }

    /// The request's origin; reuses the last origin when it is the same, to avoid allocating text.
    func destination(
        of received: borrowing ReceivedRequest, _ context: borrowing ClientContext, _ engine: Engine,
        _ terms: RouterTerms
    ) -> Origin {
        // the last origin keeps the route that was current at its time
        let isKnown =
            context.tunnel != nil || engine.settings.routes.isEmpty && context.lastOrigin?.route == nil
        if isKnown, let last = context.tunnel ?? context.lastOrigin {
            if let head {
                // a tunnel under AM's name leads to the address that the client chose, and the session must not go there
                if last.matches(head), last.serverName == nil || terms.isGuarded { return last.used(by: terms) }
            } else if context.tunnel != nil || last.matches(received.head) {
                return last.used(by: terms)
            }
        }
        return Origin(sent(received.head), engine.settings.routes).used(by: terms)
    }

    /// The framing of the request's body as sent.
    func framing(of received: borrowing ReceivedRequest, _ engine: Engine, _ terms: RouterTerms) -> BodyFraming {
        guard received.body.isKept else { return received.body.framing }
        guard trailers(of: received, engine).isEmpty else { return .chunked }
        let count = body?.count ?? received.body.bytes.count
        return count == 0 && !terms.announcesLength ? .none : .length(UInt64(count))
    }

    /// The client's trailers, unless the body was replaced.
    func trailers(of received: borrowing ReceivedRequest, _ engine: Engine) -> [UInt8] {
        guard !received.body.trailers.isEmpty else { return [] }
        if let body, body != received.body.bytes { return [] }
        return engine.passed(received.body.trailers, sent(received.head))
    }

    /// The head to send.
    mutating func outgoingHead(
        of received: borrowing ReceivedRequest, _ framing: BodyFraming, from source: borrowing ClientSource,
        _ engine: Engine, _ terms: RouterTerms, _ log: borrowing ExchangeLog
    ) -> OutgoingHead {
        var head = sent(received.head)
        var forwarding = Forwarding(framing: framing)
        // HTTP/1.0 does not define Expect, and its client would not understand a 100
        forwarding.dropsExpect =
            received.body.isKept || !received.body.bytes.isEmpty || received.head.version == .http10
        forwarding.via = engine.via(received: received.head.version)
        if case .forward(let proxy) = origin?.route {
            forwarding.absoluteForm = true
            forwarding.lines += proxy.credentials
        }
        offersUpgrade = terms.hasClient && framing == .none && engine.mayUpgrade(head)
        forwarding.upgrades = offersUpgrade
        if offersUpgrade, WebSocketKey.isMissing(in: head) {
            let key = WebSocketKey()
            socketKey = key
            head.fields.set(WebSocketKey.name, key.text)
        }
        if terms.hasClient, engine.settings.disclosure.forwarded != .none, let address = source.address {
            let target = received.head.target
            forwarding.lines += ForwardedElement(
                client: address, by: source.local, scheme: target.scheme,
                host: received.head.fields.text(target.authority)
            ).take(engine.settings.disclosure.forwarded, from: &head)
        }
        log.showTrace(in: &head)
        return OutgoingHead(head: head, forwarding: forwarding)
    }
}

extension Engine {
    /// The trailers to send: none where AM must allow requests, because servers may merge them into the head.
    func passed(_ trailers: [UInt8], _ head: RequestHead) -> [UInt8] {
        guard isEnforcing, !trailers.isEmpty else { return trailers }
        return enforces(head.target.scheme, head.host, port: head.target.port) ? [] : trailers
    }
}
