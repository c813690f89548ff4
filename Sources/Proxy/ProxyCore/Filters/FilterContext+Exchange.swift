import HTTPCodec
import Interception

// Builds the `FilterContext` of an exchange.

extension FilterSetup {
    init(
        _ info: borrowing ExchangeInfo, _ attempt: borrowing Attempt, at point: FilterRegistration.Point, _ seconds: Int
    ) {
        let (engine, body) = (info.engine, info.received.body.framing)
        let sessionEnd = engine.sessionEnd(info.received.head, info.classification)
        self.init(
            engine: engine, request: info.received.head, framing: body, step: info.received.body.classifierStep,
            watched: engine.watched(info.classification, sessionEnd), sessionEnd: sessionEnd,
            body: info.received.body.arrived(attempt.body),
            covered: point == .head ? engine.stepUp(for: info.received.head, body) : nil,
            edits: info.editContext(seconds))
    }
}

extension FilterContext {
    /// - Parameter isOut: the request may have reached its origin.
    init(
        _ info: borrowing ExchangeInfo, _ attempt: borrowing Attempt, isOut: Bool, _ client: borrowing ClientContext,
        _ time: CookieSessions.Now
    ) {
        let request = info.received.head
        let (sent, bytes) = (attempt.sent(request), info.received.body.bytes)
        self.init(
            request: request, sent: sent, body: bytes,
            sentBody: info.received.body.isKept ? attempt.body ?? bytes : nil, mayHaveArrived: isOut, time: time,
            stores: info.stores(client),
            client: RequestSender(
                address: client.source.address, user: info.log.record.user, session: info.testSession?.id),
            url: info.log.record.url, initial: request,
            unproven: client.unproven(sent, info.engine.settings.interception.security),
            environments: info.engine.settings.environments)
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
