import HTTPCodec

/// Prepares an attempt: its destination, the kind of connection, and the head to send.
extension Attempt {
    /// The request head to send.
    func sent(_ request: borrowing RequestHead) -> RequestHead { if let head { head } else { copy request } }

    func version(_ info: borrowing ExchangeInfo) -> LeaseVersion {
        let upgrades = if let head { info.engine.mayUpgrade(head) } else { info.engine.mayUpgrade(info.received.head) }
        if info.terms.hasClient, upgrades { return isBinding ? .http1 : .upgrade }
        return isBinding ? .oldest : .any
    }

    /// The request's origin; reuses the last origin when it is the same, to avoid allocating text.
    func destination(_ info: borrowing ExchangeInfo, _ context: borrowing ClientContext) -> Origin {
        // the last origin keeps the route that was current at its time
        let isKnown =
            context.tunnel != nil || info.engine.settings.routes.isEmpty && context.lastOrigin?.route == nil
        if isKnown, let last = context.tunnel ?? context.lastOrigin {
            if let head {
                // a tunnel under AM's name leads to the address that the client chose, and the session must not go there
                if last.matches(head), last.serverName == nil || info.terms.isGuarded {
                    return last.used(by: info.terms)
                }
            } else if context.tunnel != nil || last.matches(info.received.head) {
                return last.used(by: info.terms)
            }
        }
        return Origin(sent(info.received.head), info.engine.settings.routes).used(by: info.terms)
    }

    /// The framing of the request's body as sent.
    func framing(_ info: borrowing ExchangeInfo) -> BodyFraming {
        guard info.received.body.isKept else { return info.received.body.framing }
        guard trailers(info).isEmpty else { return .chunked }
        let count = body?.count ?? info.received.body.bytes.count
        return count == 0 && !info.terms.announcesLength ? .none : .length(UInt64(count))
    }

    /// The client's trailers, unless the body was replaced.
    func trailers(_ info: borrowing ExchangeInfo) -> [UInt8] {
        guard !info.received.body.trailers.isEmpty else { return [] }
        if let body, body != info.received.body.bytes { return [] }
        return info.engine.passed(info.received.body.trailers, sent(info.received.head))
    }

    /// The head to send.
    mutating func outgoingHead(
        _ framing: BodyFraming, from source: borrowing ClientSource, _ info: borrowing ExchangeInfo
    ) -> OutgoingHead {
        let engine = info.engine
        var head = sent(info.received.head)
        var forwarding = Forwarding(framing: framing)
        // HTTP/1.0 does not define Expect, and its client would not understand a 100
        forwarding.dropsExpect =
            info.received.body.isKept || !info.received.body.bytes.isEmpty || info.received.head.version == .http10
        forwarding.via = engine.via(received: info.received.head.version)
        if case .forward(let proxy) = origin?.route {
            forwarding.absoluteForm = true
            forwarding.lines += proxy.credentials
        }
        offersUpgrade = info.terms.hasClient && framing == .none && engine.mayUpgrade(head)
        forwarding.upgrades = offersUpgrade
        if offersUpgrade, WebSocketKey.isMissing(in: head) {
            let key = WebSocketKey()
            socketKey = key
            head.fields.set(WebSocketKey.name, key.text)
        }
        if info.terms.hasClient, engine.settings.disclosure.forwarded != .none, let address = source.address {
            let target = info.received.head.target
            forwarding.lines += ForwardedElement(
                client: address, by: source.local, scheme: target.scheme,
                host: info.received.head.fields.text(target.authority)
            ).take(engine.settings.disclosure.forwarded, from: &head)
        }
        info.log.showTrace(in: &head)
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
