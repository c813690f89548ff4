import HTTPCodec
import Interception

/// What becomes of a request whose head is here, before interceptors and filters know of it.
enum Reception {
    /// It goes on to its origin.
    case proceeds
    case answered(LocalResponse)
    case refused(ProxyError, isLast: Bool)
    /// CONNECT: the connection to the origin is what is asked for.
    case tunnel
    /// CONNECT to `usher.proxy`. Some clients open a tunnel for plain HTTP, too: what is asked for inside is answered here.
    case ownTunnel(Origin)
    /// What a push service posts to `usher.proxy`.
    case push

    /// Settles whom a request is for.
    /// - Parameters:
    ///   - framing: how its body comes.
    ///   - tunnel: the one that it came in.
    ///   - url: gets what it asks for, before anything is refused.
    /// - Returns: why it goes no further; nothing of its client is read after that.
    /// - Throws: an `HTTPFault` where the head breaks a rule.
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

    /// The request is well formed, and whoever sent it may send one.
    /// - Throws: an `HTTPFault` where `Max-Forwards` is no number.
    init(_ request: inout RequestHead, _ engine: Engine, flow: UInt64, date: [UInt8]) throws(HTTPFault) {
        if engine.hasPages(for: request) {
            self = Self.ownPage(request, engine, flow: flow, date: date)
        } else if request.method == .connect {
            self = Self.tunnel(request, engine)
        } else if request.fields.contains(.via), request.fields.viaNames(engine.pseudonym) {
            // it names this very process (RFC 9110 §7.6.3): to send it on would go round for ever
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
        if let ports = engine.settings.connectPorts, !ports.contains(request.target.port) {
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
    /// Requests to `usher.proxy` are answered by Usher itself.
    func hasPages(for request: borrowing RequestHead) -> Bool {
        request.target.host.count == OwnPages.hostLength && request.fields.equal(request.target.host, OwnPages.host)
            && pages != nil
    }
}
