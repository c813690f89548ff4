import HTTPCodec
import Interception
import Passwords

/// The handling of a request whose head is here, before interceptors and filters see it.
enum Reception {
    /// The request goes on to its origin.
    case proceeds
    /// The password has to be checked first.
    indirect case authenticates(PasswordCheck)
    indirect case answered(LocalResponse)
    indirect case refused(ProxyError, isLast: Bool)
    /// CONNECT: the client asks for a tunnel to the origin.
    case tunnel
    /// CONNECT to `usher.proxy`. Some clients use a tunnel for plain HTTP, too: Usher answers the requests in it.
    indirect case ownTunnel(Origin)
    /// A post by a push service to `usher.proxy`.
    case push

    /// Begins with a request whose head is here.
    /// - Parameter framing: the framing of the body.
    static func begin(
        _ framing: BodyFraming, _ info: inout ExchangeInfo, _ context: inout ClientContext, date: [UInt8]
    ) -> Reception {
        info.received.body.reset(framing)
        do throws(HTTPFault) {
            let refusal = try refusal(
                of: &info.received.head, framing, in: context.tunnel, info.engine, url: &info.log.record.url)
            if let refusal { return .refused(refusal, isLast: true) }
        } catch {
            return .refused(.broken(error), isLast: true)
        }
        let users = info.engine.settings.users
        do throws(ProxyError) {
            if try TestSessionGate.enter(&info, &context) { return admit(&info, date: date) }
        } catch {
            return .refused(error, isLast: false)
        }
        // inside a tunnel the request is for the origin; the client authenticated when it opened the tunnel
        guard let users, context.tunnel == nil else { return admit(&info, date: date) }
        context.user = nil
        do throws(ProxyError) {
            return .authenticates(
                try PasswordGate.check(
                    info.received.head, users, flow: info.log.record.flow, client: context.source.address))
        } catch {
            return .refused(error, isLast: false)
        }
    }

    /// Continues with the verdict on the password.
    static func authenticated(
        _ verdict: PasswordVerdict, _ info: inout ExchangeInfo, _ context: inout ClientContext,
        _ out: inout CommandBuffer
    ) -> Reception {
        if let refusal = PasswordGate.refusal(verdict) { return .refused(refusal, isLast: false) }
        if let refusal = PasswordGate.accept(&info, &context, &out) { return .refused(refusal, isLast: true) }
        return admit(&info, date: out.date)
    }

    /// Continues with a well-formed request whose client is authenticated.
    private static func admit(_ info: inout ExchangeInfo, date: [UInt8]) -> Reception {
        do throws(HTTPFault) {
            let reception = try Reception(
                &info.received.head, info.engine, flow: info.log.record.flow, date: date)
            if case .proceeds = reception, let share = info.engine.settings.disclosure.traceShare {
                info.log.beginTrace(of: &info.received.head, share)
            }
            if case .push = reception, let error = PushDelivery.refusal(of: info.received.body.framing) {
                return .refused(error, isLast: false)
            }
            return reception
        } catch {
            return .refused(.broken(error), isLast: true)
        }
    }

    /// The body is here, as far as it is kept.
    /// - Returns: nil when the request goes on.
    static func collected(
        _ info: inout ExchangeInfo, _ stores: SharedStores, _ out: borrowing CommandBuffer
    ) -> Reception? {
        info.log.record.requestBytes = info.received.body.count
        if info.engine.hasPages(for: info.received.head) {
            do throws(ProxyError) {
                let push = try PushDelivery(info.received.body, stores, at: out.time)
                info.log.tell(
                    .conversation("a push for the device with the id \(push.device) was delivered"), out.now)
                return .answered(OwnResponse.page(push.page, flow: info.log.record.flow, date: out.date))
            } catch {
                return .refused(error, isLast: false)
            }
        }
        guard let limit = info.engine.settings.limits.body, info.received.body.count > limit else { return nil }
        return .refused(.bodyTooLarge, isLast: true)
    }

    /// Determines the target of a request.
    /// - Parameters:
    ///   - framing: the framing of the body.
    ///   - tunnel: the tunnel that carries the request.
    ///   - url: receives the requested URL before any refusal.
    /// - Returns: the reason for a refusal; Usher then reads nothing more from the client.
    /// - Throws: an `HTTPFault` when the head breaks a rule.
    static func refusal(
        of request: inout RequestHead, _ framing: BodyFraming, in tunnel: Origin?, _ engine: Engine, url: inout [UInt8]
    ) throws(HTTPFault) -> ProxyError? {
        if request.method == .connect {
            guard tunnel == nil else { return .badRequest(400, "CONNECT inside a CONNECT tunnel") }
            try request.settleHost(scheme: .https)
            engine.redaction.appendURL(of: request, to: &url)
            return nil
        }
        if let tunnel {
            try request.settleHost(scheme: tunnel.scheme)
        } else {
            guard request.target.form == .absolute else { return .originForm }
            try request.settleHost()
        }
        engine.redaction.appendURL(of: request, to: &url)
        if let tunnel, !tunnel.matches(request) { return .misdirected(request, tunnel) }
        if request.target.form == .absolute { request.alignHost() }
        try request.fields.removeConnectionFields()
        if case .length(let length) = framing, let limit = engine.settings.limits.body, length > limit {
            return .bodyTooLarge
        }
        return nil
    }

    /// Decides about a well-formed request of an authenticated client.
    /// - Throws: an `HTTPFault` when `Max-Forwards` is no number.
    init(_ request: inout RequestHead, _ engine: Engine, flow: UInt64, date: [UInt8]) throws(HTTPFault) {
        if engine.hasPages(for: request) {
            self = Self.ownPage(request, engine, flow: flow, date: date)
        } else if request.method == .connect {
            self = Self.tunnel(request, engine)
        } else if request.fields.contains(.via), request.fields.viaNames(engine.pseudonym) {
            // its Via names this process (RFC 9110 §7.6.3), so forwarding it would loop forever
            self = .refused(.loop, isLast: false)
        } else if request.method == .trace || request.method == .options,
            let local = try MaxForwards.answer(to: &request, flow: flow, date: date)
        {
            self = .answered(local)
        } else {
            self = .proceeds
        }
    }

    private static func tunnel(_ request: RequestHead, _ engine: Engine) -> Reception {
        if let ports = engine.settings.routes.connectPorts, !ports.contains(request.target.port) {
            return .refused(.connectPort(request.target.port, permitted: ports), isLast: false)
        }
        if engine.isEnforcing, let host = engine.undecidable(request) {
            return .refused(.undecided(host), isLast: false)
        }
        return .tunnel
    }

    private static func ownPage(
        _ request: RequestHead, _ engine: Engine, flow: UInt64, date: [UInt8]
    ) -> Reception {
        if request.method == .connect {
            guard request.target.port == 443 else {
                return .ownTunnel(Origin(scheme: .http, host: OwnPages.host, port: request.target.port))
            }
            return .refused(
                ProxyError(
                    "http_request_denied", status: 403,
                    "\(OwnPages.host) is read without TLS: ask for http://\(OwnPages.host)/"), isLast: false)
        }
        if PushDelivery.isMeant(by: request, engine.settings.devices) { return .push }
        do throws(ProxyError) {
            guard let page = try engine.pages?.page(for: request) else { return .proceeds }
            return .answered(OwnResponse.page(page, flow: flow, date: date))
        } catch {
            return .refused(error, isLast: false)
        }
    }
}

extension Engine {
    /// Whether Usher itself responds to the request, because it is for `usher.proxy`.
    func hasPages(for request: borrowing RequestHead) -> Bool {
        request.target.host.count == OwnPages.hostLength && request.fields.equal(request.target.host, OwnPages.host)
            && pages != nil
    }
}
