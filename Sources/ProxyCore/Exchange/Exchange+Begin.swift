import HTTPCodec
import Interception

/// From a head that is whole to a request that may go on: whom it is for, and who sends it.
extension Exchange {
    /// Begins with the request in `request`.
    /// - Parameter framing: how its body comes.
    /// - Throws: an `HTTPFault` where the head breaks a rule; then `refuse` is what follows.
    mutating func begin(
        _ framing: BodyFraming, _ context: inout ClientContext, _ out: inout Outbox
    ) throws(HTTPFault) {
        body.reset(framing)
        if request.method == .connect {
            guard context.tunnel == nil else {
                return answer(.badRequest(400, "CONNECT inside a CONNECT tunnel"), isLast: true, &out)
            }
            try request.settleHost(scheme: .https)
            engine.redaction.appendURL(of: request, to: &log.record.url)
        } else {
            if let tunnel = context.tunnel {
                try request.settleHost(scheme: tunnel.scheme)
            } else {
                guard request.target.form == .absolute else { return answer(.originForm, isLast: true, &out) }
                try request.settleHost()
            }
            // before anything is refused: the log tells what was asked for
            engine.redaction.appendURL(of: request, to: &log.record.url)
            if let tunnel = context.tunnel, !tunnel.matches(request) {
                return answer(.misdirected(request, tunnel), isLast: true, &out)
            }
            if request.target.form == .absolute { request.alignHost() }
            try request.fields.removeConnectionFields()
            if case .length(let length) = framing, let limit = engine.settings.limits.body, length > limit {
                return answer(.bodyTooLarge, isLast: true, &out)
            }
        }
        // inside a tunnel the request is meant for the origin; who opened the tunnel has shown its password
        if engine.settings.users != nil, context.tunnel == nil {
            authenticate(&context, &out)
        } else {
            try admitted(&context, &out)
        }
    }

    /// The request is well formed, and whoever sent it may send one.
    mutating func admitted(_ context: inout ClientContext, _ out: inout Outbox) throws(HTTPFault) {
        if isForOwnPages { return respondFromOwnPages(&context, &out) }
        if request.method == .connect { return connect(&out) }
        // it names this very process (RFC 9110 §7.6.3): to send it on would go round for ever
        if request.fields.contains(.via), request.fields.viaNames(engine.pseudonym) { return answer(.loop, &out) }
        if request.method == .trace || request.method == .options,
            let local = try MaxForwards.answer(to: &request, flow: log.record.flow, date: out.date)
        {
            return answer(local, &out)
        }
        if let share = engine.settings.disclosure.traceShare { log.beginTrace(of: &request, share) }
        plan(&context, &out)
    }

    private mutating func connect(_ out: inout Outbox) {
        if let ports = engine.settings.connectPorts, !ports.contains(request.target.port) {
            return answer(.connectPort(request.target.port, permitted: ports), &out)
        }
        if engine.isEnforcing, let host = engine.undecidable(request) { return answer(.undecided(host), &out) }
        log.tell(.sent, out.now)
        enter(.tunnelling, until: .max)
        out.replies.append(.connect)
    }

    // MARK: refusals

    /// A request that breaks a rule is answered and the connection closed: where the next one would begin is unknown.
    mutating func refuse(_ fault: HTTPFault, _ out: inout Outbox) {
        answer(.broken(fault), isLast: true, &out)
    }

    // MARK: the proxy's own pages

    /// Requests to `usher.proxy` are answered by Usher itself.
    var isForOwnPages: Bool {
        request.target.host.count == OwnPages.hostLength && request.fields.equal(request.target.host, OwnPages.host)
            && engine.pages != nil
    }

    private mutating func respondFromOwnPages(_ context: inout ClientContext, _ out: inout Outbox) {
        if request.method == .connect { return openTunnelToOwnPages(&context, &out) }
        if takesPush { return collectPush(&out) }
        do throws(ProxyError) {
            guard let page = try engine.pages?.page(for: request) else { return }
            answer(OwnResponse.page(page, flow: log.record.flow, date: out.date), &out)
        } catch {
            answer(error, &out)
        }
    }

    /// Some clients open a tunnel for plain HTTP too: the requests inside are answered here, and no connection is made.
    private mutating func openTunnelToOwnPages(_ context: inout ClientContext, _ out: inout Outbox) {
        guard request.target.port != 443 else {
            return answer(
                ProxyError(
                    "http_request_denied", status: 403,
                    "\(OwnPages.host) is read without TLS: ask for http://\(OwnPages.host)/"), &out)
        }
        context.tunnel = Origin(scheme: .http, host: OwnPages.host, port: request.target.port)
        log.tell(.delivered(status: 200), out.now)
        out.replies.append(.openOwnPages)
        complete(out.now)
    }
}
