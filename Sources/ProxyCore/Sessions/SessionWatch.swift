import Authorization
import Formats
import HTTPCodec
import Interception

/// Looks on while a client signs in at AM, gets tokens and signs out: its session goes along with its requests from there on,
/// or with nobody's any more.
final class SessionWatch: PassiveDetour {
    private let action: Action
    /// The request is no other.
    private let isSure: Bool
    private let servers: [AuthorizationServer]
    /// Entries that want to know.
    private let learners: [AuthorizationPolicy]

    init(_ action: Action, isSure: Bool, _ servers: [AuthorizationServer], learners: [AuthorizationPolicy]) {
        self.action = action
        self.isSure = isSure
        self.servers = servers
        self.learners = learners
    }

    /// By such requests clients sign out.
    static func ends(_ action: Action) -> Bool { action == .logout || action == .endSession }

    var maxResponseBytes: Int { Classifier.bodyPeek }

    func edit(_ head: inout RequestHead, _ context: DetourContext, _ notes: inout [ExchangeMoment]) {}

    func holds(_ response: ResponseHead, to request: RequestHead, sent: RequestHead) -> Int? {
        AuthorizationServer.tells(action) && response.status == 200 ? Classifier.bodyPeek : nil
    }

    func consider(
        _ response: HeldResponse, _ context: DetourContext, _ notes: inout [ExchangeMoment]
    ) -> DetourOrder {
        let answer = EditedBody.json(in: response.body, response.head.fields, limit: response.limit)
        notes += witness(response.head, answer, context)
        return .deliver(response)
    }

    func answered(_ response: inout ResponseHead, _ context: DetourContext) {
        if Self.ends(action) { _ = witness(response, nil, context) }
    }

    /// - Returns: what was learned, in words.
    private func witness(
        _ response: ResponseHead, _ answer: JSONValue?, _ context: DetourContext
    ) -> [ExchangeMoment] {
        guard let stores = context.sessions else { return [] }
        var notes: [ExchangeMoment] = []
        for server in servers {
            guard
                let event = server.event(
                    action, isSure: isSure, sent: context.sent, body: context.body, response, answer)
            else { continue }
            switch event {
            case .news(let news):
                guard let page = context.initiator.winner(response) else {
                    notes.append(.session("\(news.words) is \(TokenWatch.notLearned)"))
                    continue
                }
                for (client, policy) in identities(at: server, context) where policy.wants(news) {
                    stores.learned.learn(news, of: client.at(page), at: server.url, for: policy.sessions.keep)
                    if case .session = news, policy.sessions.source != .learned { continue }
                    notes.append(.session("\(news.words) goes along from here on (\(policy.sessions.identity.words))"))
                }
            case .ended(let sessions): end(sessions, stores)
            case .left(let sessions):
                end(sessions, stores)
                for (client, _) in identities(at: server, context) { stores.learned.forget(client, at: server.url) }
            }
        }
        return notes
    }

    private func end(_ sessions: Set<String>, _ stores: SessionStores) {
        for session in sessions {
            stores.upgrades.forget { $0.dies(with: session) }
            stores.learned.ended(session)
        }
    }

    /// The client as each of the entries for that server knows it.
    private func identities(
        at server: AuthorizationServer, _ context: DetourContext
    ) -> [(client: LearnedClient, policy: AuthorizationPolicy)] {
        learners.filter { $0.server.url == server.url }.compactMap { policy in
            context.client.learned(policy.sessions.identity, context.request).map { ($0, policy) }
        }
    }
}

extension Exchange {
    /// - Returns: how much of the request's body has to be kept to know of which session it is.
    func planSessions() -> Int {
        guard case .done = body.classifierStep, !engine.settings.authorization.isEmpty, watched?.action == .logout
        else { return 0 }
        return Classifier.bodyPeek
    }

    mutating func watchSessions() {
        guard let action = watched?.action, !engine.settings.authorization.isEmpty,
            SessionWatch.ends(action) || AuthorizationServer.tells(action) && !engine.learners.isEmpty
        else { return }
        let isSure = classification?.action == action
        addDetour(SessionWatch(action, isSure: isSure, engine.settings.servers, learners: engine.learners))
    }

    /// How the request may end a session, though it is no Action that does.
    var sessionEnd: Classifier.SessionEnd? {
        guard !isCall, !engine.settings.servers.isEmpty, !Action.known.contains(where: { $0 == classification?.action })
        else { return nil }
        return engine.classifier.sessionEnd(request)
    }

    /// What the request is to those who keep something for sessions: LOGOUT also where it may be one.
    var watched: Classification? {
        guard sessionEnd != nil else { return classification }
        return Classification(
            action: .logout, realm: classification?.realm, evidence: "It may end a session, however it is read.")
    }
}
