import HTTPCodec
import Interception

/// What goes out in an attempt: where to, by what kind of connection, under which head.
extension Attempt {
    /// The request as it goes out.
    func sent(_ request: borrowing RequestHead) -> RequestHead { if let head { head } else { copy request } }

    func version(of received: borrowing ReceivedRequest, _ engine: Engine, _ terms: RouterTerms) -> LeaseVersion {
        let upgrades = if let head { engine.mayUpgrade(head) } else { engine.mayUpgrade(received.head) }
        if terms.hasClient, upgrades { return isBinding ? .http1 : .upgrade }
        return isBinding ? .oldest : .any
    }

    /// The origin of the request; the last one again, without making text, where it is the same.
    func destination(
        of received: borrowing ReceivedRequest, _ context: borrowing ClientContext, _ engine: Engine,
        _ terms: RouterTerms
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
            } else if last.matches(received.head) {
                return last
            }
        }
        return Origin(sent(received.head), engine.settings.routes)
    }

    /// How the request's body goes out.
    func framing(of received: borrowing ReceivedRequest, _ engine: Engine, _ terms: RouterTerms) -> BodyFraming {
        guard received.body.isKept else { return received.body.framing }
        guard trailers(of: received, engine).isEmpty else { return .chunked }
        let count = body?.count ?? received.body.bytes.count
        return count == 0 && !terms.announcesLength ? .none : .length(UInt64(count))
    }

    /// What came behind the body goes out behind it: not where another one takes its place.
    func trailers(of received: borrowing ReceivedRequest, _ engine: Engine) -> [UInt8] {
        guard !received.body.trailers.isEmpty else { return [] }
        if let body, body != received.body.bytes { return [] }
        return engine.passed(received.body.trailers, sent(received.head))
    }

    /// The head as it goes out.
    mutating func outgoingHead(
        of received: borrowing ReceivedRequest, _ framing: BodyFraming, from source: borrowing ClientSource,
        _ engine: Engine, _ terms: RouterTerms, _ log: borrowing ExchangeLog
    ) -> OutgoingHead {
        var head = sent(received.head)
        var forwarding = Forwarding(framing: framing)
        if !terms.sharesConnections { forwarding.connection = "close" }
        // HTTP/1.0 knows no such expectation, and its client would not understand the answer
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
    /// What of trailers goes out: nothing of them where AM is asked, for servers may take them for fields of the head.
    func passed(_ trailers: [UInt8], _ head: RequestHead) -> [UInt8] {
        guard isEnforcing, !trailers.isEmpty else { return trailers }
        return enforces(head.target.scheme, head.host, port: head.target.port) ? [] : trailers
    }
}
