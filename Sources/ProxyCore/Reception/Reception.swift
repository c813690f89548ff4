import HTTPCodec
import Interception

/// The handling of a request whose head is here, before interceptors and filters see it.
enum Reception {
    /// The request goes on to its origin.
    case proceeds
    case answered(LocalResponse)
    case refused(ProxyError, isLast: Bool)
    /// CONNECT: the client asks for a tunnel to the origin.
    case tunnel
    /// CONNECT to `usher.proxy`. Some clients use a tunnel for plain HTTP, too: Usher answers the requests in it.
    case ownTunnel(Origin)
    /// A post by a push service to `usher.proxy`.
    case push

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
    /// Whether Usher itself responds to the request, because it is for `usher.proxy`.
    func hasPages(for request: borrowing RequestHead) -> Bool {
        request.target.host.count == OwnPages.hostLength && request.fields.equal(request.target.host, OwnPages.host)
            && pages != nil
    }
}
