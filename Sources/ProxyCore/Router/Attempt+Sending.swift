import HTTPCodec
import Interception

/// What goes out in an attempt: where to, by what kind of connection, under which head.
extension Attempt {
    /// The request as it goes out.
    func sent(_ request: borrowing RequestHead) -> RequestHead { if let head { head } else { copy request } }

    func version(of request: borrowing RequestHead, _ engine: Engine, _ terms: RouterTerms) -> LeaseVersion {
        let upgrades = if let head { engine.mayUpgrade(head) } else { engine.mayUpgrade(request) }
        if terms.hasClient, upgrades { return isBinding ? .http1 : .upgrade }
        return isBinding ? .oldest : .any
    }

    /// The origin of the request; the last one again, without making text, where it is the same.
    func destination(
        of request: borrowing RequestHead, _ context: borrowing ClientContext, _ engine: Engine, _ terms: RouterTerms
    ) -> Origin {
        // what was asked for last went by the routes of its time
        let isKnown =
            context.tunnel != nil || engine.settings.routes.isEmpty && context.lastOrigin?.route == nil
        if isKnown, let last = context.tunnel ?? context.lastOrigin {
            if let head {
                // a tunnel that bears AM's name leads where the client had it lead, and the session does not go there
                if last.matches(head), last.serverName == nil || terms.isGuarded { return last }
            } else if context.tunnel != nil {
                return last
            } else if last.matches(request) {
                return last
            }
        }
        return Origin(sent(request), engine.settings.routes)
    }

    /// How the request's body goes out.
    func framing(
        of body: borrowing RequestBody, _ engine: Engine, _ request: borrowing RequestHead, _ terms: RouterTerms
    ) -> BodyFraming {
        guard body.isKept else { return body.framing }
        guard trailers(of: body, engine, request).isEmpty else { return .chunked }
        let count = self.body?.count ?? body.bytes.count
        return count == 0 && !terms.announcesLength ? .none : .length(UInt64(count))
    }

    /// What came behind the body goes out behind it: not where another one takes its place.
    func trailers(of body: borrowing RequestBody, _ engine: Engine, _ request: borrowing RequestHead) -> [UInt8] {
        guard !body.trailers.isEmpty else { return [] }
        if let sent = self.body, sent != body.bytes { return [] }
        return engine.passed(body.trailers, sent(request))
    }

    /// The head as it goes out.
    mutating func outgoingHead(
        of request: borrowing RequestHead, _ body: borrowing RequestBody, _ framing: BodyFraming,
        from source: ClientSource,
        _ engine: Engine,
        _ terms: RouterTerms, _ log: borrowing ExchangeLog
    ) -> OutgoingHead {
        // made in its place, for a head is large
        var made = OutgoingHead(head: sent(request), forwarding: Forwarding(framing: framing))
        if !terms.sharesConnections { made.forwarding.connection = "close" }
        // HTTP/1.0 knows no such expectation, and its client would not understand the answer
        made.forwarding.dropsExpect = body.isKept || !body.bytes.isEmpty || request.version == .http10
        made.forwarding.via = engine.via(received: request.version)
        if case .forward(let proxy) = origin?.route {
            made.forwarding.absoluteForm = true
            made.forwarding.lines += proxy.credentials
        }
        offersUpgrade = terms.hasClient && framing == .none && engine.mayUpgrade(made.head)
        made.forwarding.upgrades = offersUpgrade
        if offersUpgrade, WebSocketKey.isMissing(in: made.head) {
            let key = WebSocketKey()
            socketKey = key
            made.head.fields.set(WebSocketKey.name, key.text)
        }
        if terms.hasClient, engine.settings.disclosure.forwarded != .none, let address = source.address {
            made.forwarding.lines += ForwardedElement(
                client: address, by: source.local, scheme: request.target.scheme,
                host: request.fields.text(request.target.authority)
            ).take(engine.settings.disclosure.forwarded, from: &made.head)
        }
        log.showTrace(in: &made.head)
        return made
    }
}

extension Engine {
    /// What of trailers goes out: nothing of them where AM is asked, for servers may take them for fields of the head.
    func passed(_ trailers: [UInt8], _ head: RequestHead) -> [UInt8] {
        guard isEnforcing, !trailers.isEmpty else { return trailers }
        return enforces(head.target.scheme, head.host, port: head.target.port) ? [] : trailers
    }
}
