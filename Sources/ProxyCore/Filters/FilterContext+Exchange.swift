import Authorization
import HTTPCodec
import Interception

// Builds the `FilterContext` of an exchange.

extension FilterSetup {
    init(of exchange: borrowing Exchange, at point: FilterRegistration.Point, _ edits: EditContext) {
        let engine = exchange.engine
        let sessionEnd = engine.sessionEnd(exchange.request, exchange.classification)
        self.init(
            engine: engine, request: exchange.request, framing: exchange.body.framing,
            step: exchange.body.classifierStep, watched: engine.watched(exchange.classification, sessionEnd),
            sessionEnd: sessionEnd,
            body: exchange.received.body.arrived(exchange.attempt.body),
            covered: point == .head ? engine.stepUp(for: exchange.request, exchange.body.framing) : nil, edits: edits)
    }
}

extension FilterContext {
    init(of exchange: borrowing Exchange, _ client: ClientContext, _ time: CookieSessions.Now) {
        let engine = exchange.engine
        let sent = exchange.sentHead
        self.init(
            request: exchange.request, sent: sent, body: exchange.body.bytes,
            sentBody: exchange.body.isKept ? exchange.attempt.body ?? exchange.body.bytes : nil,
            mayHaveArrived: exchange.awaitsResponse, time: time, stores: client.stores,
            client: RequestSender(address: client.source.address, user: exchange.log.record.user),
            url: exchange.log.record.url, initial: exchange.request,
            unproven: client.unproven(sent, engine.settings.interception.security))
    }
}

extension ClientContext {
    /// The reason to add no secret: a tunnel may lead to any server. Its name is only the client's claim if its TLS is not
    /// checked.
    fileprivate func unproven(_ sent: RequestHead, _ security: OriginSecurity) -> String? {
        guard let tunnel, let name = tunnel.serverName, tunnel.matches(sent), !security.demands(of: tunnel).provesName
        else { return nil }
        return
            "the request goes where the client's tunnel leads, and nothing proves that this is \(name), so it goes out without"
    }
}

extension Engine {
    /// The way in which a request may end a session, though its Action is none of AM's.
    fileprivate func sessionEnd(_ request: RequestHead, _ classification: Classification?) -> Classifier.SessionEnd? {
        guard !settings.servers.isEmpty, !Action.known.contains(where: { $0 == classification?.action }) else {
            return nil
        }
        return classifier.sessionEnd(request)
    }

    /// The Action as session filters see it: LOGOUT also for a request that may be one.
    fileprivate func watched(
        _ classification: Classification?, _ sessionEnd: Classifier.SessionEnd?
    ) -> Classification? {
        guard sessionEnd != nil else { return classification }
        return Classification(
            action: .logout, realm: classification?.realm, evidence: "It may end a session, however it is read.")
    }
}
