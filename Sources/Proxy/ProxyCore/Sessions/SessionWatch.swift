import Authorization
import Formats
import HTTPCodec
import Interception

/// Learns a client's session when it signs in at AM or gets tokens, and drops it when the client signs out. Later requests of the
/// client carry it.
final class SessionWatch: Filter {
    private let action: Action
    /// The request's Action is certain.
    private let isSure: Bool
    private let servers: [AuthorizationServer]
    /// The entries of `authorization` that learn sessions.
    private let learners: [AuthorizationPolicy]

    init(_ action: Action, isSure: Bool, _ servers: [AuthorizationServer], learners: [AuthorizationPolicy]) {
        self.action = action
        self.isSure = isSure
        self.servers = servers
        self.learners = learners
    }

    /// Clients sign out by these Actions.
    static func ends(_ action: Action) -> Bool { action == .logout || action == .endSession }

    func response(_ step: ResponseStep, _ head: inout ResponseHead, _ context: inout FilterContext) -> FilterAction {
        switch step {
        case .head: if Self.ends(action) { _ = witness(head, nil, context) }
        case .offered:
            if AuthorizationServer.tells(action), head.status == 200 { return .hold(upTo: Classifier.bodyPeek) }
        case .whole(let response):
            let answer = EditedBody.json(in: response.body, response.head.fields, limit: response.limit)
            context.notes += witness(response.head, answer, context)
        case .tooLarge: break
        }
        return .proceed
    }

    /// - Returns: the events to log.
    private func witness(_ response: ResponseHead, _ answer: JSONValue?, _ context: FilterContext) -> [LogEvent] {
        guard let stores = context.sessions else { return [] }
        var notes: [LogEvent] = []
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
                    stores.learned?.learn(news, of: client.at(page), at: server.url, for: policy.sessions.keep)
                    if case .session = news, policy.sessions.source != .learned { continue }
                    notes.append(.session("\(news.words) goes along from here on (\(policy.sessions.identity.words))"))
                }
            case .ended(let sessions): end(sessions, stores)
            case .left(let sessions):
                end(sessions, stores)
                for (client, _) in identities(at: server, context) { stores.learned?.forget(client, at: server.url) }
            }
        }
        return notes
    }

    private func end(_ sessions: Set<String>, _ stores: SessionStores) {
        for session in sessions {
            stores.upgrades.change { $0.void { $0.dies(with: session) } }
            stores.learned?.ended(session)
        }
    }

    /// The client as each entry for that server identifies it.
    private func identities(
        at server: AuthorizationServer, _ context: FilterContext
    ) -> [(client: LearnedClient, policy: AuthorizationPolicy)] {
        learners.filter { $0.server.url == server.url }.compactMap { policy in
            context.client.learned(policy.sessions.identity, context.request).map { ($0, policy) }
        }
    }
}

extension SessionWatch {
    static let registration = FilterRegistration(
        .classified, where: { !$0.authorization.isEmpty },
        // keeps the body that names the session
        need: { setup in
            guard case .done = setup.step, setup.watched?.action == .logout else { return 0 }
            return Classifier.bodyPeek
        }
    ) { setup in
        guard let action = setup.watched?.action,
            ends(action) || AuthorizationServer.tells(action) && !setup.engine.learners.isEmpty
        else { return }
        setup.add(
            SessionWatch(
                action, isSure: setup.action == action, setup.engine.settings.servers, learners: setup.engine.learners))
    }
}
