internal import Authorization
internal import EventLoop
internal import ProxyCore
internal import TLSEngine

/// The learned sessions of clients, for all loops. It identifies clients by digests.
final class LearnedTable: LearnedStore, Sendable {
    private let sessions = Locked(LearnedSessions())
    private let digest = KeyedDigest()

    func find(_ client: LearnedClient, at server: String) -> LearnedSessions.Found? {
        guard let key = key(client, server) else { return nil }
        return sessions.withLock { $0.find(key, now: Loop.monotonicMilliseconds()) }
    }

    func learn(_ news: LearnedSessions.News, of client: LearnedClient, at server: String, for time: Int) {
        guard let key = key(client, server) else { return }
        sessions.withLock { $0.learn(news, key, for: time, now: Loop.monotonicMilliseconds()) }
    }

    func forget(_ client: LearnedClient, at server: String) {
        guard let key = key(client, server) else { return }
        sessions.withLock { $0.forget(key) }
    }

    func ended(_ session: String) { sessions.withLock { $0.ended(session) } }
    func replaced(_ session: String, by other: SessionSource) { sessions.withLock { $0.replaced(session, by: other) } }

    private func key(_ client: LearnedClient, _ server: String) -> LearnedSessions.Key? {
        guard let whole = digest.tableKey(client.material(at: server)),
            let owner = digest.tableKey(client.ownerMaterial), let page = digest.tableKey(client.pageMaterial)
        else { return nil }
        return .init(client: whole, owner: owner, page: page)
    }
}
