public import Authorization
public import ProxyCore

/// The learned sessions of clients. It identifies clients by digests.
typealias LearnedTable = SharedLedger<LearnedSessions>

extension LearnedTable: LearnedStore {
    public func find(_ client: LearnedClient, at server: String) -> LearnedSessions.Found? {
        key(client, server).flatMap { key in change { $0.find(key, now: now) } }
    }

    public func learn(_ news: LearnedSessions.News, of client: LearnedClient, at server: String, for time: Int) {
        guard let key = key(client, server) else { return }
        change { $0.learn(news, key, for: time, now: now) }
    }

    public func forget(_ client: LearnedClient, at server: String) {
        guard let key = key(client, server) else { return }
        change { $0.forget(key) }
    }

    public func ended(_ session: String) { change { $0.ended(session) } }
    public func replaced(_ session: String, by other: SessionSource) { change { $0.replaced(session, by: other) } }

    private func key(_ client: LearnedClient, _ server: String) -> LearnedSessions.Key? {
        guard let whole = digest(client.material(at: server)), let owner = digest(client.ownerMaterial),
            let page = digest(client.pageMaterial)
        else { return nil }
        return .init(client: whole, owner: owner, page: page)
    }
}
