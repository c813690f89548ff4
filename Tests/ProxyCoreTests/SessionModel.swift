import Addresses
import Authorization
import HTTPCodec
import Interception
import ProxyCore

/// The credentials of one test's connections: whoever waits is told through its driver.
final class CredentialModel<Value: Credential>: CredentialStore {
    private var credentials: SharedCredentials<CredentialLedger<Value>, Int>
    /// The connections, in the order in which they were made; whoever asks counts for the one that is marked.
    var drivers: [DriverModel] = []
    var asking = 0
    private var told: [(ticket: WaitingTicket, driver: Int)] = []

    init(_ kind: WaitingTicket.Kind, capacity: Int = 4096) {
        credentials = SharedCredentials(kind, capacity: capacity)
    }

    /// Those who fetch and those who wait.
    var places: Int { change { $0.fetching } + waiting }
    var waiting: Int { credentials.line.count }

    func change<Result>(_ body: (inout CredentialLedger<Value>) -> Result) -> Result {
        let (result, turns) = credentials.change(body)
        tell(turns)
        return result
    }

    func enter(_ obstacle: CredentialLedger<Value>.Obstacle) -> WaitingTicket? {
        credentials.line.enter(obstacle, asking)
    }
    func leave(_ ticket: WaitingTicket) { tell(credentials.line.leave(ticket)) }
    func isAwaited(_ key: Value.Key) -> Bool { credentials.line.isAwaited(key) }
    private func tell(_ turns: [(WaitingTicket, Int)]) {
        for (ticket, driver) in turns { told.append((ticket, driver)) }
    }

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
