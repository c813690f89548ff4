import Addresses
import Authorization
import HTTPCodec
import ProxyCore

/// The credentials of one test's connections: whoever waits is told through its driver.
final class CredentialModel<Value: Credential>: CredentialStore {
    private var ledger = CredentialLedger<Value>()
    private var line: WaitingLine<Value, Int>
    /// The connections, in the order in which they were made; whoever asks counts for the one that is marked.
    var drivers: [DriverModel] = []
    var asking = 0
    private var told: [(ticket: WaitingTicket, driver: Int)] = []

    init(_ kind: WaitingTicket.Kind, capacity: Int = 4096) { line = WaitingLine(kind, capacity: capacity) }

    /// Those who fetch and those who wait.
    var places: Int { ledger.fetching + line.count }
    var waiting: Int { line.count }

    func change<Result>(_ body: (inout CredentialLedger<Value>) -> Result) -> Result {
        let result = body(&ledger)
        for key in ledger.takeEnded() { told += line.ended(key).map { ($0.0, $0.1) } }
        return result
    }

    func enter(_ obstacle: CredentialLedger<Value>.Obstacle) -> WaitingTicket? { line.enter(obstacle, asking) }
    func leave(_ ticket: WaitingTicket) { told += line.leave(ticket).map { ($0.0, $0.1) } }
    func isAwaited(_ key: Value.Key) -> Bool { line.isAwaited(key) }

    /// Tells whoever is to be told, as its loop's mailbox does.
    func ring() {
        while !told.isEmpty {
            let (ticket, driver) = told.removeFirst()
            drivers[driver].ticketCame(ticket)
        }
    }

    /// The same, among these.
    func ring(_ talks: Conversation...) {
        while !told.isEmpty {
            let (ticket, _) = told.removeFirst()
            for talk in talks { talk.driver.ticketCame(ticket) }
        }
    }
}

/// What was learned, for the connections of one test.
final class LearnedModel: LearnedStore {
    var sessions = LearnedSessions()
    var now = 0

    private func key(_ client: LearnedClient, _ server: String) -> LearnedSessions.Key {
        func number(_ bytes: [UInt8]) -> UInt128 { bytes.reduce(7) { $0 &* 31 &+ UInt128($1) } }
        return .init(
            client: number(client.material(at: server)), owner: number(client.ownerMaterial),
            page: number(client.pageMaterial))
    }

    func find(_ client: LearnedClient, at server: String) -> LearnedSessions.Found? {
        sessions.find(key(client, server), now: now)
    }
    func learn(_ news: LearnedSessions.News, of client: LearnedClient, at server: String, for time: Int) {
        sessions.learn(news, key(client, server), for: time, now: now)
    }
    func forget(_ client: LearnedClient, at server: String) { sessions.forget(key(client, server)) }
    func ended(_ session: String) { sessions.ended(session) }
    func replaced(_ session: String, by other: SessionSource) { sessions.replaced(session, by: other) }
}

/// The sessions that some clients of one test have in common.
final class SessionModel {
    let upgrades = CredentialModel<SharedUpgrade>(.upgrade)
    let own = CredentialModel<KeptSession>(.login)
    let learned = LearnedModel()
    let ended = Ended()
    private var talks: [Conversation] = []
    private var now = 0

    /// Sessions that AM was to be told of.
    final class Ended: @unchecked Sendable {
        // one test's thread alone uses it
        var calls: [ServerCall] = []
    }

    /// Another client, with a connection of its own.
    func client(
        _ settings: Settings, _ address: String = "192.0.2.1", logins: (any LoginStore)? = nil,
        streams: (any StreamServer)? = nil, tokens: (any TokenStore)? = nil
    ) -> Conversation {
        let stores = SessionStores(upgrades: upgrades, own: own, learned: learned) { [ended] in
            ended.calls.append($0.call)
        }
        let talk = Conversation(
            settings, logins: logins, tokens: tokens, sessions: stores,
            source: ClientSource(address: IPAddress(address)), streams: streams)
        talk.driver.pool.now = now
        talks.append(talk)
        upgrades.drivers.append(talk.driver)
        own.drivers.append(talk.driver)
        return talk
    }

    /// What happens next is that client's.
    func turn(_ talk: Conversation) {
        let index = talks.firstIndex { $0 === talk } ?? 0
        upgrades.asking = index
        own.asking = index
    }

    /// Whoever comes next comes so much later.
    func waits(_ milliseconds: Int) {
        now += milliseconds
        learned.now += milliseconds
    }
}
